//! Blocks that cannot be toolsets. All that is wrong with a block is told at once.

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
    /// Takes the service away.
    #[tool]
    fn by_value(self) {}

    /// Wants it alone.
    #[tool]
    fn alone(&mut self) {}

    /// Has one name.
    #[tool]
    fn one(&self) {}

    /// Has the same name.
    #[tool(name = "one")]
    fn other(&self) {}

    /// Has a key that it does not know.
    #[tool(hint(call = "…"))]
    fn unknown_key(&self) {}

    /// Says what the block says.
    #[tool(toolset = "another")]
    fn elsewhere(&self) {}

    /// Has its keys in no parentheses.
    #[tool = "keys"]
    fn no_parentheses(&self) {}

    #[tool]
    fn no_description(&self) {}
}

fn main() {}
