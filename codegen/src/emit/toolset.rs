//! `calls.rs` and `executor.rs` of a toolset, and the function that registers its tools.

use super::module::Module;
use super::rust::{TokenStream, quote};
use super::tokens::{docs, import, path, root_type};
use crate::naming::library;
use crate::plan::{Arm, DeprecatedCall, ExecutorPlan, ToolPlan, ToolsetCrate};

/// The module of the call builders.
pub(super) fn calls(plan: &ToolsetCrate<'_>) -> Module {
    let types = plan.tools.iter().any(|tool| tool.args.is_named());
    let own: &[_] = if types { &["specs", "types"] } else { &["specs"] };
    let calls = plan.tools.iter().map(|tool| {
        let ToolPlan { function, marker, .. } = tool;
        let args = root_type(&tool.args);
        let deprecated = tool.deprecated.as_ref().map(|DeprecatedCall { since, note }| {
            let since = since.map(|version| quote!(since = #version,));
            let note = note.as_ref().map(|note| quote!(note = #note));
            let details = (since.is_some() || note.is_some()).then(|| quote!((#since #note)));
            quote!(#[deprecated #details])
        });
        quote!(#deprecated #function(#args) => specs::#marker)
    });
    let parts =
        vec![import(&TokenStream::new(), "super", own), quote!(toolwright::calls!(#(#calls),*);)];
    Module { name: "calls", about: format!("Typed calls of the `{}` tools.", plan.toolset), parts }
}

/// The module of the executors: one calls the methods of a service, one calls the tools on an MCP server.
pub(super) fn executor(plan: &ToolsetCrate<'_>) -> Module {
    let own: &[_] = if plan.transforms.is_empty() { &["specs"] } else { &["specs", "transforms"] };
    let own = import(&TokenStream::new(), "super", own);
    let service = plan.executor.as_ref().map(|executor| {
        let (service_path, trait_name) = (path(&executor.service_path), &executor.trait_name);
        quote!(use #service_path::service::#trait_name;)
    });
    let origin = plan.remote.is_none().then(|| {
        quote!(
            use toolwright::Origin;
        )
    });
    let mut parts = vec![quote!(#own #service #origin)];
    parts.extend(plan.executor.as_ref().map(|executor| on_service(plan, executor)));
    parts.push(on_server(plan));
    Module { name: "executor", about: format!("Executors of the `{}` tools.", plan.toolset), parts }
}

/// The test that holds the codecs to the vectors, if there are any.
pub(super) fn vectors(plan: &ToolsetCrate<'_>, package: &str) -> Option<Module> {
    let tests: Vec<TokenStream> = plan.tools.iter().filter_map(vectors_of).collect();
    let library = path(&library(package));
    let about =
        format!("Checks the codecs of the `{}` tools with the rows in `vectors/`.", plan.toolset);
    let mut parts = vec![quote!(use #library::specs;)];
    (!tests.is_empty()).then(|| {
        parts.extend(tests);
        Module { name: "vectors", about, parts }
    })
}

fn vectors_of(ToolPlan { function, marker, vectors, .. }: &ToolPlan<'_>) -> Option<TokenStream> {
    let file = format!("../vectors/{}", vectors.as_ref()?.name);
    Some(quote! {
        #[test]
        #[rustfmt::skip]
        fn #function() {
            toolwright::vectors::check::<specs::#marker>(include_str!(#file));
        }
    })
}

fn on_service(plan: &ToolsetCrate<'_>, executor: &ExecutorPlan<'_>) -> TokenStream {
    let ExecutorPlan { name, trait_name, arms, .. } = executor;
    let docs = docs(&[format!("Runs the `{}` tools on a [`{trait_name}`].", plan.toolset)]);
    let arms = arms.iter().map(arm);
    quote! {
        toolwright::executor! {
            #docs
            pub struct #name<S: #trait_name> {
                #(#arms,)*
                _ => specs::ALL,
            }
        }
    }
}

fn arm(Arm { tool, marker, method, args, result }: &Arm<'_>) -> TokenStream {
    let names = std::iter::once(&tool.name).chain(&tool.aliases).map(|name| &name.value);
    let args = args.as_ref().map(|transform| quote!(transforms::#transform));
    let result = result.as_ref().map(|transform| quote!(-> transforms::#transform));
    quote!(#(#names)|* => specs::#marker: #method(#args) #result)
}

/// The executor that calls the tools on an MCP server: the server that the schema names, or else any server that
/// exposes the toolset.
fn on_server(plan: &ToolsetCrate<'_>) -> TokenStream {
    let (name, toolset) = (&plan.mcp_executor, &plan.toolset);
    let (about, origin) = match &plan.remote {
        Some(remote) => {
            let server = &remote.server.value;
            let about = format!("Runs the `{toolset}` tools on the MCP server `{server}`.");
            (about, quote!(specs::REMOTE))
        }
        None => (
            format!("Runs the `{toolset}` tools on an MCP server that exposes them."),
            quote!(Origin::exposing(#toolset, specs::ALL)),
        ),
    };
    let docs = docs(&[about]);
    quote! {
        toolwright::remote_executor! {
            #docs
            pub struct #name(#origin);
        }
    }
}

/// The function that registers the tools, in the root of the crate.
pub(super) fn register(plan: &ToolsetCrate<'_>) -> TokenStream {
    let toolset = &plan.toolset;
    let on_service = plan.executor.as_ref().map(|ExecutorPlan { name, trait_path, .. }| {
        let trait_path = path(trait_path);
        (quote!(service: impl #trait_path + 'static,), quote!(executor::#name::new(service)))
    });
    let on_server = plan.remote.is_some().then(|| {
        let name = &plan.mcp_executor;
        let parameter = quote!(remote: impl toolwright::Remote + 'static,);
        (parameter, quote!(executor::#name::new(remote)))
    });
    let bound = || plan.tools.iter().filter(|tool| tool.tool.binding.is_some());
    let needs_other = plan.remote.is_none() && bound().count() < plan.tools.len();
    let (parameter, own) = on_service.or(on_server).unzip();
    let other = needs_other.then(|| quote!(executor: std::sync::Arc<dyn toolwright::Executor>,));
    // A toolset with method-backed and other tools has two executors, which `SplitExecutor` combines.
    let method_backed = (needs_other && own.is_some()).then(|| {
        let specs = bound().map(|tool| &tool.constant);
        quote! {
            static METHOD_BACKED: &[&toolwright::ToolSpec] = &[#(&specs::#specs),*];
        }
    });
    let executor = match &own {
        Some(own) if needs_other => {
            quote!(std::sync::Arc::new(toolwright::SplitExecutor::new(METHOD_BACKED, #own, executor)))
        }
        Some(own) => quote!(std::sync::Arc::new(#own)),
        None => quote!(executor),
    };
    let shared = match (&parameter, needs_other) {
        (None, _) => "`executor`",
        (Some(_), true) => "`service` and `executor`",
        (Some(_), false) if plan.remote.is_some() => "`remote`",
        (Some(_), false) => "`service`",
    };
    let docs = docs(&[
        &format!("Registers the `{toolset}` tools. All runs share {shared}."),
        "",
        "# Errors",
        "",
        "Returns an error, and registers nothing, if the name of a tool is taken.",
    ]);
    quote! {
        #docs
        #[rustfmt::skip]
        pub fn register(
            registrar: &mut dyn toolwright::Registrar,
            #parameter
            #other
        ) -> Result<(), toolwright::RegistrationError> {
            #method_backed
            registrar.register(specs::ALL, #executor)
        }
    }
}
