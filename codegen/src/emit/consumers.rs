//! Crates of agents and MCP servers: they name what providers offer.

use std::collections::BTreeMap;

use super::print::Module;
use super::rust::{TokenStream, quote};
use super::tokens::{docs, duration, grouped, import, optional_of, path};
use crate::naming::Identifier;
use crate::plan::{AgentCrate, Provider, ServerCrate, ServiceParameter, ToolPath};

/// The modules of an agent's crate.
pub(super) fn agent(plan: &AgentCrate<'_>) -> Vec<Module> {
    let calls = (!plan.tools.is_empty()).then(|| agent_calls(plan));
    calls.into_iter().chain([agent_registration(plan), agent_specs(plan)]).collect()
}

fn agent_calls(plan: &AgentCrate<'_>) -> Module {
    let mut functions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for tool in &plan.tools {
        functions.entry(&tool.path).or_default().push(&tool.function);
    }
    // A part a toolset: the blank line between two of them keeps apart what two branches add.
    let parts = functions.into_iter().map(|(from, mut names)| {
        names.sort_unstable();
        import(&quote!(pub), &format!("{from}::calls"), &names)
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
    let calls = optional_of(policy.max_tool_calls.map(number));
    let failures = optional_of(policy.max_consecutive_failures.map(number));
    let budget = optional_of(policy.time_budget.map(duration));
    let waits = policy.time_budget.map(|_| {
        quote!(
            use std::time::Duration;
        )
    });
    let about = docs(&[format!("The agent `{agent}`.")]);
    let mut parts: Vec<_> = waits.into_iter().collect();
    parts.extend([
        quote! {
            use toolwright::ToolSpec;
            use toolwright_runtime::{AgentSpec, Policy};
        },
        quote! {
            /// Every tool the agent uses, in declared order.
            pub static ALL: &[&ToolSpec] = &[#(#tools),*];
        },
        quote! {
            /// Every tool the agent implements.
            pub static EXPORTS: &[&ToolSpec] = &[#(#exports),*];
        },
        quote! {
            /// The tools offered to the agent's model: all but the deprecated ones.
            pub fn advertised() -> impl Iterator<Item = &'static ToolSpec> {
                toolwright::spec::advertised(ALL)
            }
        },
        quote! {
            #about
            pub static AGENT: AgentSpec = AgentSpec {
                name: #agent,
                service: #service,
                description: #description,
                instructions: #instructions,
                tools: ALL,
                exports: EXPORTS,
                policy: Policy {
                    max_tool_calls: #calls,
                    max_consecutive_failures: #failures,
                    time_budget: #budget,
                },
            };
        },
    ]);
    Module { name: "specs", about: format!("What the agent `{agent}` uses and implements."), parts }
}

fn references(tools: &[ToolPath]) -> Vec<TokenStream> {
    let reference = |tool: &ToolPath| {
        let (path, constant) = (path(&tool.path), &tool.constant);
        quote!(&#path::specs::#constant)
    };
    tools.iter().map(reference).collect()
}

fn agent_registration(plan: &AgentCrate<'_>) -> Module {
    let about = docs(&[
        &format!(
            "Registers `{}` and, with it as what runs them, the tools it implements.",
            plan.agent.name.value
        ),
        "",
        "Register the providers of its tools first.",
        "",
        "# Errors",
        "",
        "A name that is taken already, or a tool the agent uses that nothing runs.",
    ]);
    let parts = vec![
        quote!(
            use std::sync::Arc;
        ),
        quote! {
            use super::specs;
            use toolwright::RegistrationError;
            use toolwright_runtime::{Planner, Registry};
        },
        quote! {
            #about
            pub fn register(registry: &mut Registry, planner: Arc<dyn Planner>) -> Result<(), RegistrationError> {
                registry.register_agent(&specs::AGENT, planner)
            }
        },
    ];
    Module {
        name: "registration",
        about: format!("How the agent `{}` is registered.", plan.agent.name.value),
        parts,
    }
}

/// The modules of an MCP server's crate.
pub(super) fn server(plan: &ServerCrate<'_>) -> Vec<Module> {
    let (server, version) = (&plan.server.name.value, &plan.server.version);
    let providers = &plan.providers;
    let toolsets = providers.iter().map(|provider| {
        let path = path(&provider.path);
        quote!(#path::specs::ALL)
    });
    let (parameters, shared) = (parameters(providers), shared(providers));
    let steps = providers.iter().map(|provider| step(provider, &shared));
    let arcs = shared.iter().map(|name| quote!(let #name = Arc::new(#name);));
    let takes_executor = providers.iter().any(|provider| provider.executor.is_some());
    let arc = (takes_executor || !shared.is_empty()).then(|| {
        quote!(
            use std::sync::Arc;
        )
    });
    let executor = takes_executor.then_some("Executor");
    let needs_remote = providers.iter().any(|provider| provider.remote.is_some());
    let remote = needs_remote.then_some("Remote");
    let names: Vec<_> = executor.into_iter().chain(["RegistrationError"]).chain(remote).collect();
    let contract = import(&TokenStream::new(), "toolwright", &names);
    let about = docs(&[format!("The MCP server `{server}`.")]);
    let mut parts: Vec<_> = arc.into_iter().collect();
    parts.extend([
        quote! {
            #contract
            use toolwright_mcp::{McpServer, ServerSpec};
        },
        quote! {
            #about
            pub static SERVER: ServerSpec = ServerSpec {
                name: #server,
                version: #version,
                toolsets: &[#(#toolsets),*],
            };
        },
        quote! {
            /// The server, with what runs its tools.
            ///
            /// # Errors
            ///
            /// A tool that nothing runs.
            pub fn server(#(#parameters),*) -> Result<McpServer, RegistrationError> {
                #(#arcs)*
                let mut server = McpServer::new(&SERVER);
                #(#steps)*
                server.complete()
            }
        },
    ]);
    vec![Module { name: "server", about: format!("The MCP server `{server}`."), parts }]
}

/// The parameters of a server: a service that backs several toolsets is taken once.
fn parameters(providers: &[Provider]) -> Vec<TokenStream> {
    let mut services: Vec<&ServiceParameter> = Vec::new();
    let mut parameters = Vec::new();
    for Provider { service, remote, executor, .. } in providers {
        if let Some(service) = service.as_ref().filter(|service| !services.contains(service)) {
            let (name, trait_path) = (&service.name, path(&service.trait_path));
            parameters.push(quote!(#name: impl #trait_path + 'static));
            services.push(service);
        }
        parameters.extend(remote.as_ref().map(|name| quote!(#name: impl Remote + 'static)));
        parameters.extend(executor.as_ref().map(|name| quote!(#name: Arc<dyn Executor>)));
    }
    parameters
}

/// The services that back more than one toolset.
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
        if shared.contains(&name) { quote!(Arc::clone(&#name)) } else { quote!(#name) }
    });
    let remote = provider.remote.as_ref().map(|name| quote!(#name));
    let executor = provider.executor.as_ref().map(|name| quote!(#name));
    let arguments = service.into_iter().chain(remote).chain(executor);
    quote!(#path::register(&mut server, #(#arguments),*)?;)
}
