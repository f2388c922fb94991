//! `specs.rs`: everything known about the tools, as statics.

use super::print::Module;
use super::rust::{TokenStream, quote};
use super::tokens::{docs, duration, grouped, ident, optional, optional_of, root_type};
use crate::model::ToolAnnotations;
use crate::plan::{DeclarationPlan, ToolPlan, ToolsetCrate};

/// The module of a toolset's specs.
pub(super) fn module(plan: &ToolsetCrate) -> Module {
    let constants: Vec<_> = plan.tools.iter().map(|tool| ident(&tool.constant)).collect();
    let mut parts = uses(plan);
    parts.extend([
        quote! {
            /// Every tool of the toolset, in declared order.
            pub static ALL: &[&ToolSpec] = &[#(&#constants),*];
        },
        quote! {
            /// The tools offered to models: all but the deprecated ones.
            pub fn advertised() -> impl Iterator<Item = &'static ToolSpec> {
                spec::advertised(ALL)
            }
        },
    ]);
    parts.extend(plan.tools.iter().flat_map(tool));
    Module { name: "specs", about: format!("Specs of the `{}` toolset.", plan.toolset), parts }
}

fn uses(plan: &ToolsetCrate) -> Vec<TokenStream> {
    let waits = plan.tools.iter().any(|tool| tool.declaration.timeout.is_some());
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
    let ours = quote! {
        #types
        use toolwright::spec::{self, ToolSpec};
    };
    duration.into_iter().chain([ours]).collect()
}

fn tool(tool: &ToolPlan) -> [TokenStream; 3] {
    let (marker, constant) = (ident(&tool.marker), ident(&tool.constant));
    let (args, result) = (root_type(&tool.args), root_type(&tool.result));
    let (docs_of_tool, declaration) = (docs(&tool.docs), declaration(tool));
    let about = docs(&[format!(
        "The tool `{}` as a type; [`{}`] is its spec.",
        tool.declaration.name, tool.constant
    )]);
    [
        quote! {
            #docs_of_tool
            pub static #constant: ToolSpec = ToolSpec::typed(#marker, #declaration);
        },
        quote!(#about #[derive(Clone, Copy, Debug)] pub struct #marker;),
        quote! {
            impl spec::Tool for #marker {
                type Args = #args;
                type Result = #result;
                const SPEC: &'static ToolSpec = &#constant;
            }
        },
    ]
}

fn declaration(tool: &ToolPlan) -> TokenStream {
    let plan = &tool.declaration;
    let DeclarationPlan { name, toolset, service, description, .. } = plan;
    let title = plan.title.as_ref().map(|title| quote!(title: Some(#title),));
    let provenance = provenance(plan);
    let offered = offered(plan);
    let words = words(plan);
    let running = running(plan);
    let args_schema = format!("../schema/{}", tool.args_schema.0);
    let result_schema = format!("../schema/{}", tool.result_schema.0);
    quote! {
        spec::Declaration {
            #title
            description: #description,
            #provenance
            #offered
            #words
            #running
            args_schema: include_str!(#args_schema),
            result_schema: include_str!(#result_schema),
            ..spec::Declaration::new(#name, #toolset, #service)
        }
    }
}

fn provenance(plan: &DeclarationPlan) -> TokenStream {
    let (variant, fields) = &plan.implementation;
    let variant = ident(variant);
    let fields = fields.iter().map(|(name, value)| {
        let name = ident(name);
        quote!(#name: #value)
    });
    let fields = (fields.len() > 0).then(|| quote!({ #(#fields),* }));
    let remote = plan.remote_name.as_ref().map(|name| quote!(remote_name: Some(#name),));
    quote!(implementation: spec::Implementation::#variant #fields, #remote)
}

/// What decides whether and how the tool is offered.
fn offered(plan: &DeclarationPlan) -> TokenStream {
    let (tags, aliases) = (&plan.tags, &plan.aliases);
    let tags = (!tags.is_empty()).then(|| quote!(tags: &[#(#tags),*],));
    let aliases = (!aliases.is_empty()).then(|| quote!(aliases: &[#(#aliases),*],));
    let annotations = annotations(plan.annotations);
    let deprecated = plan.deprecated.as_ref().map(|(since, replacement)| {
        let (since, replacement) = (optional(since.as_ref()), optional(replacement.as_ref()));
        quote!(deprecated: Some(spec::Deprecation { since: #since, replacement: #replacement }),)
    });
    quote!(#tags #aliases #annotations #deprecated)
}

fn annotations(annotations: ToolAnnotations) -> Option<TokenStream> {
    let ToolAnnotations { read_only, destructive, idempotent, open_world } = annotations;
    let hints = [
        ("read_only", read_only),
        ("destructive", destructive),
        ("idempotent", idempotent),
        ("open_world", open_world),
    ];
    let said: Vec<_> = hints
        .iter()
        .filter_map(|(name, hint)| hint.map(|hint| (ident(name), hint)))
        .map(|(name, hint)| quote!(#name: Some(#hint),))
        .collect();
    let rest = (said.len() < hints.len()).then(|| quote!(..spec::ToolAnnotations::UNKNOWN));
    (!said.is_empty()).then(|| quote!(annotations: spec::ToolAnnotations { #(#said)* #rest },))
}

fn words(plan: &DeclarationPlan) -> TokenStream {
    let (call, result) = &plan.hints;
    let hints = (call.is_some() || result.is_some()).then(|| {
        let (call, result) = (optional(call.as_ref()), optional(result.as_ref()));
        quote!(hints: spec::Hints { call: #call, result: #result },)
    });
    let approval = plan.approval.as_ref().map(|(prompt, denied)| {
        let (prompt, denied) = (optional(prompt.as_ref()), optional(denied.as_ref()));
        quote!(approval: Some(spec::Approval { prompt: #prompt, denied: #denied }),)
    });
    let examples = plan.examples.iter().map(|example| {
        let (args, result) = (&example.args, optional(example.result.as_ref()));
        quote!(spec::Example { args: #args, result: #result })
    });
    let examples = (examples.len() > 0).then(|| quote!(examples: &[#(#examples),*],));
    let sample = plan.args_sample.as_ref().filter(|_| plan.examples.is_empty());
    let sample = sample.map(|args| quote!(args_sample: Some(#args),));
    quote!(#hints #approval #examples #sample)
}

fn running(plan: &DeclarationPlan) -> Option<TokenStream> {
    let said = plan.timeout.is_some() || plan.attempts.is_some() || plan.sequential;
    said.then(|| {
        let timeout = optional_of(plan.timeout.map(duration));
        let attempts = optional_of(plan.attempts.map(|attempts| grouped(&attempts.to_string())));
        let sequential = plan.sequential;
        quote!(limits: spec::CallLimits { timeout: #timeout, attempts: #attempts, sequential: #sequential },)
    })
}
