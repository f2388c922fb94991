//! `executor.rs` of a toolset that stands for an MCP server, and what its `specs.rs` says of that server.

use super::print::Module;
use super::rust::{TokenStream, quote};
use super::tokens::{docs, ident};
use crate::model::McpOrigin;
use crate::plan::{RemotePlan, ToolsetCrate};

/// The module of the executor.
pub(super) fn executor(plan: &ToolsetCrate<'_>, remote: &RemotePlan<'_>) -> Module {
    let name = &remote.executor;
    let about = docs(&[format!(
        "Runs the `{}` tools on the MCP server `{}`, reached through a [`Remote`].",
        plan.toolset, remote.mcp.server.value
    )]);
    let parts = vec![
        quote! {
            use super::specs;
            use toolwright::{BoxFuture, Executor, Remote, ToolCall, ToolResult};
        },
        quote! {
            #about
            #[derive(Clone, Debug)]
            pub struct #name<R> { remote: R }
        },
        quote! {
            impl<R: Remote> #name<R> {
                /// Runs the tools through this.
                pub fn new(remote: R) -> Self {
                    Self { remote }
                }
            }
        },
        quote! {
            impl<R: Remote> Executor for #name<R> {
                fn execute<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
                    call.run_remote(&specs::REMOTE, &self.remote)
                }
            }
        },
    ];
    Module { name: "executor", about: format!("What runs the `{}` tools.", plan.toolset), parts }
}

/// The static that tells of the server.
pub(super) fn origin(plan: &ToolsetCrate<'_>, remote: &RemotePlan<'_>) -> TokenStream {
    let McpOrigin { server, listed, from } = remote.mcp;
    let server = &server.value;
    let about = docs(&[format!("The MCP server that the `{}` toolset stands for.", plan.toolset)]);
    let listed = listed.iter().map(|(name, digest)| quote!((#name, #digest)));
    let fields = [
        ("name", &from.name),
        ("version", &from.version),
        ("protocol", &from.protocol),
        ("date", &from.date),
    ];
    let said = fields.iter().filter_map(|(field, value)| {
        let (field, value) = (ident(field), value.as_ref()?);
        Some(quote!(#field: Some(#value),))
    });
    let said: Vec<_> = said.collect();
    let rest = (said.len() < fields.len()).then(|| quote!(..remote::Provenance::UNKNOWN));
    let from = if said.is_empty() {
        quote!(remote::Provenance::UNKNOWN)
    } else {
        quote!(remote::Provenance { #(#said)* #rest })
    };
    quote! {
        #about
        pub static REMOTE: remote::Origin = remote::Origin {
            server: #server,
            tools: ALL,
            listed: &[#(#listed),*],
            from: #from,
        };
    }
}
