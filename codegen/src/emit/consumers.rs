//! The crates of agents and MCP servers. They define no types and refer to the crates of toolsets and services.

use std::collections::BTreeMap;

use super::module::Module;
use super::rust::{TokenStream, quote};
use super::tokens::{docs, duration, grouped, import, path};
use crate::naming::Identifier;
use crate::plan::{AgentCrate, Provider, ServerCrate, ServiceParameter, ToolPath};

/// The modules of an agent's crate.
pub(super) fn agent(plan: &AgentCrate<'_>) -> Vec<Module> {
    let calls = (!plan.tools.is_empty()).then(|| agent_calls(plan));
    calls.into_iter().chain([agent_specs(plan)]).collect()
}

fn agent_calls(plan: &AgentCrate<'_>) -> Module {
    let mut functions: BTreeMap<(&str, bool), Vec<&str>> = BTreeMap::new();
    for tool in &plan.tools {
        functions.entry((&tool.path, tool.is_deprecated)).or_default().push(&tool.function);
    }
    // Each toolset is a part of its own: with a blank line between them, two branches can change two of them without a
    // conflict.
    let parts = functions.into_iter().map(|((from, is_deprecated), mut names)| {
        names.sort_unstable();
        // Their users get the warning.
        let allowed = is_deprecated.then(|| quote!(#[allow(deprecated)]));
        let import = import(&quote!(pub), &format!("{from}::calls"), &names);
        quote!(#allowed #import)
    });
    let about = format!("Typed calls of the tools that `{}` uses.", plan.agent.name.value);
    Module { name: "calls", about, parts: parts.collect() }
}

fn agent_specs(plan: &AgentCrate<'_>) -> Module {
    let (agent, service) = (&plan.agent.name.value, plan.service);
    let description = plan.agent.description.as_deref().unwrap_or_default();
    let instructions = plan.agent.instructions.as_deref().unwrap_or_default();
    let policy = plan.agent.policy;
    let (tools, exports) = (references(&plan.tools), references(&plan.exports));
    let number = |number: u32| grouped(&number.to_string());
    let limits = [
        policy.max_tool_calls.map(number).map(|calls| quote!(max_tool_calls: Some(#calls),)),
        policy
            .max_consecutive_failures
            .map(number)
            .map(|failures| quote!(max_consecutive_failures: Some(#failures),)),
        policy.time_budget.map(duration).map(|budget| quote!(time_budget: Some(#budget),)),
        policy.max_model_calls.map(number).map(|calls| quote!(max_model_calls: Some(#calls),)),
        policy
            .max_output_tokens
            .map(number)
            .map(|tokens| quote!(max_output_tokens: Some(#tokens),)),
        policy.max_cost.map(|cost| {
            let cost = grouped(&cost.to_string());
            quote!(max_cost: Some(#cost),)
        }),
    ];
    let limits: Vec<_> = limits.into_iter().flatten().collect();
    let policy = if limits.is_empty() {
        quote!(Policy::UNLIMITED)
    } else {
        quote!(Policy { #(#limits)* ..Policy::UNLIMITED })
    };
    let hints = &plan.agent.model;
    let hints = [("family", hints.family.as_deref()), ("effort", hints.effort)];
    let hints = hints.into_iter().filter_map(|(key, hint)| hint.map(|hint| quote!((#key, #hint))));
    let hints: Vec<_> = hints.collect();
    let waits = plan.agent.policy.time_budget.map(|_| {
        quote!(
            use std::time::Duration;
        )
    });
    let mut parts: Vec<_> = waits.into_iter().collect();
    parts.extend([
        quote!(
            use toolwright_runtime::{AgentSpec, Policy};
        ),
        quote! {
            /// The instructions of the agent, the tools that it uses and implements, and its limits.
            pub static AGENT: AgentSpec = AgentSpec {
                name: #agent,
                service: #service,
                description: #description,
                instructions: #instructions,
                tools: &[#(#tools),*],
                exports: &[#(#exports),*],
                model: &[#(#hints),*],
                policy: #policy,
            };
        },
    ]);
    Module { name: "specs", about: format!("The `{agent}` agent."), parts }
}

fn references(tools: &[ToolPath]) -> Vec<TokenStream> {
    let reference = |tool: &ToolPath| {
        let (path, constant) = (path(&tool.path), &tool.constant);
        quote!(&#path::specs::#constant)
    };
    tools.iter().map(reference).collect()
}

/// The function that registers an agent, in the root of its crate.
pub(super) fn register(plan: &AgentCrate<'_>) -> TokenStream {
    let docs = docs(&[
        &format!(
            "Registers `{}` and the tools that it implements. Register the tools that it uses first.",
            plan.agent.name.value
        ),
        "",
        "# Errors",
        "",
        "Returns an error if a name is taken already, or if a tool that the agent uses is not registered.",
    ]);
    quote! {
        #docs
        #[rustfmt::skip]
        pub fn register(
            registry: &mut toolwright_runtime::Registry,
            planner: std::sync::Arc<dyn toolwright_runtime::Planner>,
        ) -> Result<(), toolwright::RegistrationError> {
            registry.register_agent(&specs::AGENT, planner)
        }
    }
}

/// The static that describes an MCP server and the function that creates it, in the root of its crate.
pub(super) fn server(plan: &ServerCrate<'_>) -> [TokenStream; 2] {
    let (server, version) = (&plan.server.name.value, &plan.server.version);
    let providers = &plan.providers;
    let toolsets = providers.iter().map(|provider| {
        let path = path(&provider.path);
        quote!(#path::specs::ALL)
    });
    let (parameters, shared) = (parameters(providers), shared(providers));
    let steps = providers.iter().map(|provider| step(provider, &shared));
    let search = plan.server.searches.then(|| quote!(.with_search()));
    let arcs = shared.iter().map(|name| quote!(let #name = std::sync::Arc::new(#name);));
    [
        quote! {
            /// The name and the version of the server, and the toolsets that it exposes.
            #[rustfmt::skip]
            pub static SERVER: toolwright_mcp::ServerSpec = toolwright_mcp::ServerSpec {
                name: #server,
                version: #version,
                toolsets: &[#(#toolsets),*],
            };
        },
        quote! {
            /// Creates the server. Each parameter runs the tools of one toolset.
            ///
            /// # Errors
            ///
            /// Returns an error if a tool cannot be registered.
            #[rustfmt::skip]
            pub fn server(#(#parameters),*) -> Result<toolwright_mcp::McpServer, toolwright::RegistrationError> {
                #(#arcs)*
                let mut server = toolwright_mcp::McpServer::new(&SERVER);
                #(#steps)*
                server #search.complete()
            }
        },
    ]
}

/// Returns the parameters of a server's constructor; a service that backs several toolsets is one parameter.
fn parameters(providers: &[Provider]) -> Vec<TokenStream> {
    let mut services: Vec<&ServiceParameter> = Vec::new();
    let mut parameters = Vec::new();
    for Provider { service, remote, executor, .. } in providers {
        if let Some(service) = service.as_ref().filter(|service| !services.contains(service)) {
            let (name, trait_path) = (&service.name, path(&service.trait_path));
            parameters.push(quote!(#name: impl #trait_path + 'static));
            services.push(service);
        }
        parameters
            .extend(remote.as_ref().map(|name| quote!(#name: impl toolwright::Remote + 'static)));
        parameters.extend(
            executor.as_ref().map(|name| quote!(#name: std::sync::Arc<dyn toolwright::Executor>)),
        );
    }
    parameters
}

/// Returns the services that back more than one toolset.
fn shared(providers: &[Provider]) -> Vec<&Identifier> {
    let mut shared = Vec::new();
    let services: Vec<_> =
        providers.iter().filter_map(|provider| provider.service.as_ref()).collect();
    for (place, service) in services.iter().enumerate() {
        if services[..place].contains(service) && !shared.contains(&&service.name) {
            shared.push(&service.name);
        }
    }
    shared
}

fn step(provider: &Provider, shared: &[&Identifier]) -> TokenStream {
    let path = path(&provider.path);
    let service = provider.service.as_ref().map(|service| {
        let name = &service.name;
        if shared.contains(&name) { quote!(std::sync::Arc::clone(&#name)) } else { quote!(#name) }
    });
    let remote = provider.remote.as_ref().map(|name| quote!(#name));
    let executor = provider.executor.as_ref().map(|name| quote!(#name));
    let arguments = service.into_iter().chain(remote).chain(executor);
    quote!(#path::register(&mut server, #(#arguments),*)?;)
}
