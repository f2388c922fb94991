//! `client.rs` and `operations.rs` of a service's HTTP client.

use toolwright::Recovery;
use toolwright::http::{Body, Content, Parameter, Part, QueryParameter, Status, Style, Verb};

use super::module::Module;
use super::rust::{Ident, TokenStream, quote};
use super::service::method_error;
use super::tokens::{docs, grouped, ident, import, located_type, path};
use crate::model::{MethodError, Route};
use crate::plan::{HttpCrate, HttpMethod};

/// The module of the client.
pub(super) fn client(plan: &HttpCrate<'_>) -> Module {
    let (name, trait_name) = (&plan.name, &plan.trait_name);
    let service_path = path(&plan.service_path);
    let about = docs(&[format!("Calls the `{}` service over HTTP.", plan.service)]);
    let methods = plan.methods.iter().map(method);
    let fails = plan.methods.iter().any(|method| method.error.is_some());
    let errors = fails.then(|| quote!(errors,));
    let types = plan.methods.iter().any(HttpMethod::names_types).then(|| quote!(, types));
    let parts = vec![
        quote! {
            use super::operations;
            use #service_path::{#errors service::#trait_name #types};
            use toolwright::MethodError;
            use toolwright_http::Client;
        },
        quote! {
            #about
            #[derive(Clone, Debug)]
            pub struct #name { client: Client }
        },
        quote! {
            impl #name {
                /// Wraps a client that is configured with the address of the service and its credentials.
                pub fn new(client: Client) -> Self {
                    Self { client }
                }
            }
        },
        quote! {
            impl #trait_name for #name {
                #(#methods)*
            }
        },
    ];
    Module { name: "client", about: format!("The `{}` service, over HTTP.", plan.service), parts }
}

fn method(method: &HttpMethod<'_>) -> TokenStream {
    let (function, constant) = (&method.function, &method.constant);
    let error = method_error(method.error.as_ref());
    let (payload, result) = (located_type(&method.payload), located_type(&method.result));
    quote! {
        async fn #function(&self, payload: #payload) -> Result<#result, #error> {
            self.client.call(&operations::#constant, &payload).await.map_err(Into::into)
        }
    }
}

/// The module of the operations.
pub(super) fn operations(plan: &HttpCrate<'_>) -> Module {
    let mut names = vec!["Operation", "Part", "Verb"];
    let mut uses = |name: &'static str, is_used: bool| names.extend(is_used.then_some(name));
    let any = |is: fn(&HttpMethod<'_>) -> bool| plan.methods.iter().any(is);
    uses("Answer", any(|method| method.gives_nothing() || method.route.answers_text));
    uses("Body", any(|method| method.route.body != Body::Nothing));
    uses("Content", any(|method| method.route.body != Body::Nothing));
    let has_errors = any(|method| declared_errors(method).next().is_some());
    uses("DeclaredError", has_errors);
    uses(
        "Parameter",
        any(|HttpMethod { route, .. }| !(route.headers.is_empty() && route.cookies.is_empty())),
    );
    uses("QueryParameter", any(|method| !method.route.query.is_empty()));
    uses("Status", has_errors);
    uses("Style", any(|method| !method.route.query.is_empty()));
    names.sort_unstable();
    let mut parts = vec![import(&TokenStream::new(), "toolwright_http::operation", &names)];
    parts.extend(plan.methods.iter().map(operation));
    let about = format!("The HTTP operations of the `{}` service.", plan.service);
    Module { name: "operations", about, parts }
}

fn operation(method: &HttpMethod<'_>) -> TokenStream {
    let (constant, name, route) = (&method.constant, &method.method.name.value, method.route);
    let about = docs(&[format!("`{name}`")]);
    let (verb, parts) = (verb(route.verb), route.path.iter().map(part));
    let new = quote!(Operation::new(#name, Verb::#verb, &[#(#parts),*]));
    let fields: Vec<_> = [placed(route), body(route), answer(method), errors(method)]
        .into_iter()
        .flatten()
        .collect();
    let value = if fields.is_empty() { new } else { quote!(Operation { #(#fields)* ..#new }) };
    quote!(#about pub static #constant: Operation = #value;)
}

fn part(part: &Part<String>) -> TokenStream {
    match part {
        Part::Text(text) => quote!(Part::Text(#text)),
        Part::Property(name) => quote!(Part::Property(#name)),
    }
}

/// The fields for query parameters, headers and cookies.
fn placed(route: &Route) -> Option<TokenStream> {
    let list = |key: &'static str, items: Vec<TokenStream>| {
        let key = ident(key);
        (!items.is_empty()).then(|| quote!(#key: &[#(#items),*],))
    };
    let parameter = |Parameter { name, property }: &Parameter<String>| quote!(Parameter { name: #name, property: #property });
    let lists = [
        list("query", route.query.iter().map(query).collect()),
        list("headers", route.headers.iter().map(parameter).collect()),
        list("cookies", route.cookies.iter().map(parameter).collect()),
    ];
    lists.into_iter().flatten().reduce(|all, next| quote!(#all #next))
}

fn query(parameter: &QueryParameter<String>) -> TokenStream {
    let QueryParameter { name, property, style, explode } = parameter;
    let style = ident(match style {
        Style::Form => "Form",
        Style::SpaceDelimited => "SpaceDelimited",
        Style::PipeDelimited => "PipeDelimited",
        Style::DeepObject => "DeepObject",
    });
    quote! {
        QueryParameter { name: #name, property: #property, style: Style::#style, explode: #explode }
    }
}

fn body(route: &Route) -> Option<TokenStream> {
    let content = |content: &Content| {
        let content = ident(match content {
            Content::Json => "Json",
            Content::Form => "Form",
            Content::DeepForm => "DeepForm",
            Content::Text => "Text",
        });
        quote!(Content::#content)
    };
    match &route.body {
        Body::Nothing => None,
        Body::Property(name, of) => {
            let content = content(of);
            Some(quote!(body: Body::Property(#name, #content),))
        }
        Body::Rest(of) => {
            let content = content(of);
            Some(quote!(body: Body::Rest(#content),))
        }
    }
}

fn answer(method: &HttpMethod<'_>) -> Option<TokenStream> {
    if method.gives_nothing() {
        return Some(quote!(answer: Answer::Nothing,));
    }
    method.route.answers_text.then(|| quote!(answer: Answer::Text,))
}

fn errors(method: &HttpMethod<'_>) -> Option<TokenStream> {
    let errors = declared_errors(method).map(|(error, status)| {
        let code = &error.name.value;
        // The message of a response without the error's data.
        let description = error.message_with(|_| "…".to_owned());
        let has_payload = error.payload.is_some();
        let is_retried = error.recovery == Recovery::Retry;
        let status = match status {
            Status::Exactly(status) => {
                let status = grouped(&status.to_string());
                quote!(Status::Exactly(#status))
            }
            Status::Class(digit) => {
                let digit = grouped(&digit.to_string());
                quote!(Status::Class(#digit))
            }
        };
        quote! {
            DeclaredError { status: #status, code: #code, description: #description, has_payload: #has_payload, is_retried: #is_retried }
        }
    });
    let errors: Vec<_> = errors.collect();
    (!errors.is_empty()).then(|| quote!(errors: &[#(#errors),*],))
}

/// Returns the errors that a status stands for, with the status.
fn declared_errors<'a>(
    method: &HttpMethod<'a>,
) -> impl Iterator<Item = (&'a MethodError, Status)> + use<'a> {
    method.method.errors.iter().filter_map(|error| Some((error, error.status?)))
}

fn verb(verb: Verb) -> Ident<'static> {
    ident(match verb {
        Verb::Get => "Get",
        Verb::Head => "Head",
        Verb::Post => "Post",
        Verb::Put => "Put",
        Verb::Patch => "Patch",
        Verb::Delete => "Delete",
        Verb::Options => "Options",
        Verb::Trace => "Trace",
    })
}
