//! `specs.rs`: statics that hold the specs of the tools.

use toolwright::remote::ListedTool;
use toolwright::spec::Implementation;

use super::module::Module;
use super::rust::{TokenStream, quote};
use super::tokens::{docs, duration, grouped, ident, import, optional_of, root_type};
use crate::model::{
    Approval, CallLimits, Deprecation, Example, Hints, McpOrigin, Strictness, ToolAnnotations,
};
use crate::plan::{ToolPlan, ToolsetCrate};

/// The module of a toolset's specs.
pub(super) fn module(plan: &ToolsetCrate<'_>) -> Module {
    let constants = plan.tools.iter().map(|tool| &tool.constant);
    let (toolset, description, service) = (&plan.toolset, plan.description, plan.service);
    let mut parts = uses(plan);
    parts.push(quote! {
        toolwright::toolset!(#toolset {
            description: #description,
            service: #service,
            tools: [#(#constants),*],
        });
    });
    parts.extend(plan.remote.as_ref().map(|remote| origin(plan, remote)));
    parts.extend(plan.tools.iter().map(tool));
    Module { name: "specs", about: format!("Specs of the `{}` toolset.", plan.toolset), parts }
}

fn uses(plan: &ToolsetCrate<'_>) -> Vec<TokenStream> {
    let waits = plan.tools.iter().any(|tool| tool.tool.limits.timeout.is_some());
    let names_types = plan.tools.iter().any(|tool| tool.args.is_named() || tool.result.is_named());
    let duration = waits.then(|| {
        quote!(
            use std::time::Duration;
        )
    });
    let types = names_types.then(|| {
        quote!(
            use super::types;
        )
    });
    let names_strictness =
        plan.tools.iter().any(|tool| tool.tool.strictness != Strictness::default());
    let names: Vec<_> = [
        Some("ToolSpec"),
        plan.remote.as_ref().map(|_| "remote"),
        names_strictness.then_some("spec"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let contract = import(&TokenStream::new(), "toolwright", &names);
    duration.into_iter().chain([quote!(#types #contract)]).collect()
}

/// The static that describes the MCP server that runs the tools.
fn origin(plan: &ToolsetCrate<'_>, origin: &McpOrigin) -> TokenStream {
    let McpOrigin { server, listed, from } = origin;
    let server = &server.value;
    let about = docs(&[format!("The MCP server that runs the `{}` tools.", plan.toolset)]);
    let listed = listed.iter().map(|ListedTool { name, all, capabilities }| {
        quote!(remote::ListedTool { name: #name, all: #all, capabilities: #capabilities })
    });
    let fields = [
        ("name", &from.name),
        ("version", &from.version),
        ("protocol", &from.protocol),
        ("date", &from.date),
    ];
    let known = fields.iter().filter_map(|(field, value)| {
        let (field, value) = (ident(field), value.as_ref()?);
        Some(quote!(#field: Some(#value),))
    });
    let known: Vec<_> = known.collect();
    let rest = (known.len() < fields.len()).then(|| quote!(..remote::Provenance::UNKNOWN));
    let from = if known.is_empty() {
        quote!(remote::Provenance::UNKNOWN)
    } else {
        quote!(remote::Provenance { #(#known)* #rest })
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

fn tool(plan: &ToolPlan<'_>) -> TokenStream {
    let (marker, constant, name) = (&plan.marker, &plan.constant, &plan.tool.name.value);
    let (args, result) = (root_type(&plan.args), root_type(&plan.result));
    let (docs, setters) = (docs(&plan.docs), setters(plan));
    quote! {
        #docs
        pub static #constant: ToolSpec = ToolSpec::of::<#marker>(#name) #setters;
        toolwright::tool!(#marker(#args) -> #result = #constant);
    }
}

/// The method calls after the constructor of a spec, one for each property of the tool.
fn setters(plan: &ToolPlan<'_>) -> TokenStream {
    let description = &plan.tool.description;
    let title = plan.tool.title.as_ref().map(|title| quote!(.with_title(#title)));
    let provenance = provenance(plan);
    let offered = offered(plan);
    let words = words(plan);
    let running = running(plan.tool.limits);
    let args_schema = format!("../schema/{}", plan.args_schema.name);
    let result_schema = format!("../schema/{}", plan.result_schema.name);
    quote! {
        #title
        .with_description(#description)
        .in_toolset(&TOOLSET)
        #provenance
        #offered
        #words
        #running
        .with_args_schema(include_str!(#args_schema))
        .with_result_schema(include_str!(#result_schema))
    }
}

/// The setters for the implementation of the tool and its name on a remote server.
fn provenance(plan: &ToolPlan<'_>) -> TokenStream {
    let implementation = match &plan.implementation {
        Implementation::Method { service, method } => quote!(.with_method(#service, #method)),
        Implementation::Agent { service, agent } => quote!(.with_agent(#service, #agent)),
        Implementation::Mcp { server } => quote!(.with_mcp_server(#server)),
        // This is the default of a spec.
        Implementation::External => TokenStream::new(),
    };
    let remote = plan.tool.remote.as_ref().map(|name| quote!(.with_remote_name(#name)));
    quote!(#implementation #remote)
}

/// The setters that decide whether and how the tool is offered: tags, aliases, strictness, deferral, annotations and deprecation.
fn offered(plan: &ToolPlan<'_>) -> TokenStream {
    let tags = &plan.tool.tags;
    let aliases = plan.tool.aliases.iter().map(|alias| &alias.value);
    let tags = (!tags.is_empty()).then(|| quote!(.with_tags(&[#(#tags),*])));
    let aliases = (aliases.len() > 0).then(|| quote!(.with_aliases(&[#(#aliases),*])));
    let strictness = match plan.tool.strictness {
        Strictness::Always => quote!(.with_strictness(spec::Strictness::Always)),
        Strictness::Never => quote!(.with_strictness(spec::Strictness::Never)),
        // This is the default of a spec.
        Strictness::Prefer => TokenStream::new(),
    };
    let deferral = plan.tool.is_deferred.then(|| quote!(.deferred()));
    let ToolAnnotations { read_only, destructive, idempotent, open_world } = plan.tool.annotations;
    let annotations = [
        read_only.map(|value| quote!(.with_read_only(#value))),
        destructive.map(|value| quote!(.with_destructive(#value))),
        idempotent.map(|value| quote!(.with_idempotent(#value))),
        open_world.map(|value| quote!(.with_open_world(#value))),
    ];
    let annotations = annotations.into_iter().flatten();
    let deprecation = plan.tool.deprecated.as_ref().map(|Deprecation { since, until, .. }| {
        let since = since.as_ref().map(|version| quote!(.deprecated_since(#version)));
        let replacement = plan.replacement.map(|tool| quote!(.replaced_by(#tool)));
        let until = until.as_ref().map(|day| quote!(.deprecated_until(#day)));
        let details: Vec<_> = [since, replacement, until].into_iter().flatten().collect();
        if details.is_empty() { quote!(.deprecated()) } else { quote!(#(#details)*) }
    });
    quote!(#tags #aliases #strictness #deferral #(#annotations)* #deprecation)
}

/// The setters for texts that people and models read, besides the description.
fn words(plan: &ToolPlan<'_>) -> TokenStream {
    let Hints { call, result } = &plan.tool.hints;
    let call = call.as_ref().map(|text| quote!(.with_call_hint(#text)));
    let result = result.as_ref().map(|text| quote!(.with_result_hint(#text)));
    let approval = plan.tool.approval.as_ref().map(|Approval { prompt, denied, metadata }| {
        let prompt = prompt.as_ref().map(|text| quote!(.with_approval_prompt(#text)));
        let denied = denied.as_ref().map(|text| quote!(.with_approval_denied(#text)));
        let metadata = metadata.as_ref().map(|text| quote!(.with_approval_metadata(#text)));
        let details: Vec<_> = [prompt, denied, metadata].into_iter().flatten().collect();
        if details.is_empty() { quote!(.requiring_approval()) } else { quote!(#(#details)*) }
    });
    let examples = plan.tool.examples.iter().map(|Example { args, result }| {
        let result = optional_of(result.as_ref());
        quote!((#args, #result))
    });
    let examples = (examples.len() > 0).then(|| quote!(.with_examples(&[#(#examples),*])));
    let sample = plan.args_sample.as_ref().map(|args| quote!(.with_args_sample(#args)));
    quote!(#call #result #approval #examples #sample)
}

/// The setters for the timeout, the attempts and whether calls run one at a time.
fn running(CallLimits { timeout, attempts, sequential }: CallLimits) -> TokenStream {
    let timeout = timeout.map(|timeout| {
        let timeout = duration(timeout);
        quote!(.with_timeout(#timeout))
    });
    let attempts = attempts.map(|attempts| {
        let attempts = grouped(&attempts.to_string());
        quote!(.with_attempts(#attempts))
    });
    let sequential = sequential.then(|| quote!(.with_sequential(true)));
    quote!(#timeout #attempts #sequential)
}
