//! Content blocks of results, for results that are not best shown as JSON text.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rmcp::model::{ContentBlock, Resource, ResourceContents};
use toolwright::Payload;

/// A content block of a tool's result. Binary data is in base64.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// The bytes of the image.
        data: String,
        /// The MIME type, such as `image/png`.
        mime_type: String,
    },
    /// Audio.
    Audio {
        /// The bytes of the audio.
        data: String,
        /// The MIME type, such as `audio/wav`.
        mime_type: String,
    },
    /// An embedded text resource.
    TextResource {
        /// The URI of the resource.
        uri: String,
        /// The MIME type, such as `text/plain`.
        mime_type: Option<String>,
        /// The full text.
        text: String,
    },
    /// An embedded binary resource.
    BlobResource {
        /// The URI of the resource.
        uri: String,
        /// The MIME type, such as `application/pdf`.
        mime_type: Option<String>,
        /// All bytes.
        blob: String,
    },
    /// A link to a resource.
    ResourceLink {
        /// The URI of the resource.
        uri: String,
        /// The name of the resource.
        name: String,
        /// The description of the resource.
        description: Option<String>,
        /// The MIME type, such as `text/plain`.
        mime_type: Option<String>,
    },
}

/// The host's function that converts results of one tool into content blocks.
#[derive(Clone)]
pub(crate) struct Presentation(Arc<dyn Fn(&Payload) -> Vec<Content> + Send + Sync>);

impl Presentation {
    pub(crate) fn new(show: impl Fn(&Payload) -> Vec<Content> + Send + Sync + 'static) -> Self {
        Self(Arc::new(show))
    }

    /// Returns the content blocks of a result, or `None` if the host's function panics.
    pub(crate) fn blocks(&self, payload: &Payload) -> Option<Vec<ContentBlock>> {
        let shown = catch_unwind(AssertUnwindSafe(|| (self.0)(payload))).ok()?;
        Some(shown.into_iter().map(ContentBlock::from).collect())
    }
}

impl From<Content> for ContentBlock {
    fn from(content: Content) -> Self {
        match content {
            Content::Text(text) => Self::text(text),
            Content::Image { data, mime_type } => Self::image(data, mime_type),
            Content::Audio { data, mime_type } => Self::audio(data, mime_type),
            Content::TextResource { uri, mime_type, text } => {
                let meta = None;
                Self::resource(ResourceContents::TextResourceContents {
                    uri,
                    mime_type,
                    text,
                    meta,
                })
            }
            Content::BlobResource { uri, mime_type, blob } => {
                let meta = None;
                Self::resource(ResourceContents::BlobResourceContents {
                    uri,
                    mime_type,
                    blob,
                    meta,
                })
            }
            Content::ResourceLink { uri, name, description, mime_type } => {
                let mut link = Resource::new(uri, name);
                (link.description, link.mime_type) = (description, mime_type);
                Self::resource_link(link)
            }
        }
    }
}
