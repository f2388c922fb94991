//! What a client is shown of a result, where JSON is not what a person or a model should see. Never touches the
//! structured result.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rmcp::model::{ContentBlock, Resource, ResourceContents};
use toolwright::Payload;

/// One block of what a tool's result is shown as. Bytes are in base64.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Words.
    Text(String),
    /// A picture.
    Image {
        /// Its bytes.
        data: String,
        /// `image/png` and the like.
        mime_type: String,
    },
    /// A sound.
    Audio {
        /// Its bytes.
        data: String,
        /// `audio/wav` and the like.
        mime_type: String,
    },
    /// A resource, whole, of text.
    TextResource {
        /// What it is known by.
        uri: String,
        /// `text/plain` and the like.
        mime_type: Option<String>,
        /// All of it.
        text: String,
    },
    /// A resource, whole, of bytes.
    BlobResource {
        /// What it is known by.
        uri: String,
        /// `application/pdf` and the like.
        mime_type: Option<String>,
        /// All of it.
        blob: String,
    },
    /// Where a resource is found.
    ResourceLink {
        /// What it is known by.
        uri: String,
        /// What it is called.
        name: String,
        /// What is in it.
        description: Option<String>,
        /// `text/plain` and the like.
        mime_type: Option<String>,
    },
}

/// How the results of one tool are shown.
#[derive(Clone)]
pub(crate) struct Presentation(Arc<dyn Fn(&Payload) -> Vec<Content> + Send + Sync>);

impl Presentation {
    pub(crate) fn new(show: impl Fn(&Payload) -> Vec<Content> + Send + Sync + 'static) -> Self {
        Self(Arc::new(show))
    }

    /// The blocks of a result; none when the host's code panics.
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
