//! Blocks that cannot be toolsets. All errors of a block are reported at once.

use toolwright_runtime::toolset;

struct Service;

#[toolset]
impl Service {}

#[toolset(named = "service")]
impl Service {}

#[toolset(name = "")]
impl Service {}

#[toolset(name = "empty")]
impl Service {
    fn no_tool(&self) {}
}

#[toolset(name = "service")]
impl Default for Service {
    fn default() -> Self {
        Self
    }
}

#[toolset(name = "service")]
fn function() {}

#[toolset(name = "service")]
impl Service {
    /// Consumes the service.
    #[tool]
    fn by_value(self) {}

    /// Takes the service exclusively.
    #[tool]
    fn alone(&mut self) {}

    /// Has one name.
    #[tool]
    fn one(&self) {}

    /// Has the same name.
    #[tool(name = "one")]
    fn other(&self) {}

    /// Has an unknown key.
    #[tool(hint(call = "…"))]
    fn unknown_key(&self) {}

    /// Repeats a key of the block.
    #[tool(toolset = "another")]
    fn elsewhere(&self) {}

    /// Has its keys without parentheses.
    #[tool = "keys"]
    fn no_parentheses(&self) {}

    #[tool]
    fn no_description(&self) {}
}

fn main() {}
