//! A tool that clients can call.

use toolwright::ToolSpec;

use super::content::Presentation;
use super::error::ServeError;
use super::listing::Listed;

/// A tool that clients can call, with its entry in the list.
pub(crate) struct ExposedTool {
    pub(crate) spec: &'static ToolSpec,
    pub(crate) listed: Listed,
    pub(crate) presentation: Option<Presentation>,
}

impl ExposedTool {
    /// Creates a tool whose results are shown as JSON.
    ///
    /// # Errors
    ///
    /// If a schema of the tool is not an object.
    pub(crate) fn new(spec: &'static ToolSpec) -> Result<Self, ServeError> {
        Ok(Self { spec, listed: Listed::new(spec)?, presentation: None })
    }
}
