//! `#[tool]` on functions: parses the keys and the signature, and generates the tool. `toolset` uses it for methods.

use std::collections::HashSet;

use proc_macro2::{Group, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, ExprLit, FnArg, GenericArgument, Ident, Item, Lit, LitStr, Pat,
    PatType, PathArguments, PathSegment, ReceiverKind, Result, ReturnType, Safety, Signature,
    Token, Type, token,
};

use crate::keys::{ToolKeys, check_name, doc_comment};

/// A function with the attribute `#[tool]`.
pub(crate) struct Tool {
    /// The name of the tool, with the span for errors.
    pub(crate) name: LitStr,
    description: LitStr,
    pub(crate) keys: ToolKeys,
    /// The function's `#[cfg]`.
    pub(crate) conditions: Vec<Attribute>,
    function: Ident,
    is_async: bool,
    takes_self: bool,
    parameters: Vec<Parameter>,
    /// The return type.
    output: Type,
}

/// A parameter of the function, by its source.
enum Parameter {
    /// A property of the arguments.
    Property { attributes: Vec<Attribute>, name: Ident, of: Box<Type> },
    /// All arguments.
    Arguments(Box<Type>),
    /// The call.
    Call { by_reference: bool },
}

/// Generates the function that returns the tool.
pub(crate) fn expand(keys: TokenStream, item: &mut Item) -> Result<TokenStream> {
    let Item::Fn(function) = item else {
        let expected = "expected a function; for an impl block use `#[toolset(name = \"…\")]`";
        return Err(Error::new_spanned(item, expected));
    };
    let tool = Tool::read(Ok(keys), &function.attrs, &mut function.sig)?;
    if tool.takes_self {
        let expected = "a method needs the attribute `#[toolset(name = \"…\")]` on its impl block";
        return Err(Error::new_spanned(&function.sig.inputs[0], expected));
    }
    let (visibility, conditions) = (&function.vis, &tool.conditions);
    let ident = format_ident!("{}_tool", tool.function.unraw(), span = tool.function.span());
    let doc = format!("The tool `{}`.", tool.name.value());
    let called = &tool.function;
    let mut belongs = TokenStream::new();
    if let Some(toolset) = &tool.keys.toolset {
        belongs.extend(quote!(.with_toolset(#toolset)));
    }
    if let Some(service) = &tool.keys.service {
        belongs.extend(quote!(.with_service(#service)));
    }
    let tool = tool.expression(&quote!(#called), &belongs);
    Ok(quote! {
        #[doc = #doc]
        #(#conditions)*
        #visibility fn #ident() -> ::toolwright_runtime::FunctionTool {
            #tool
        }
    })
}

impl Tool {
    /// Parses the attribute and the signature. Removes the attributes for the schema from the parameters, also on
    /// errors.
    pub(crate) fn read(
        keys: Result<TokenStream>,
        attributes: &[Attribute],
        signature: &mut Signature,
    ) -> Result<Self> {
        let parameters = parameters(signature);
        let keys = ToolKeys::parse(keys?)?;
        let ident = &signature.ident;
        let own_name = || LitStr::new(&ident.unraw().to_string(), ident.span());
        let name = keys.name.clone().unwrap_or_else(own_name);
        check_name(&name)?;
        let undescribed = || {
            let expected = "a tool needs a description: a doc comment, or `description = \"…\"` in the attribute";
            Error::new(ident.span(), expected)
        };
        let description = match &keys.description {
            Some(description) => description.clone(),
            None => doc_comment(attributes)?.ok_or_else(undescribed)?,
        };
        if !signature.generics.params.is_empty() {
            let expected = "a generic function cannot be a tool, since a tool has one schema; use concrete types";
            return Err(Error::new_spanned(&signature.generics, expected));
        }
        if let Safety::Unsafe(token) = &signature.safety {
            let expected = "an unsafe function cannot be a tool: models choose the arguments";
            return Err(Error::new_spanned(token, expected));
        }
        if let (true, Some(token)) = (keys.blocking, &signature.asyncness) {
            let expected =
                "a function with the key `blocking` cannot be `async`; remove one of them";
            return Err(Error::new_spanned(token, expected));
        }
        let output: Type = match &signature.output {
            ReturnType::Default => syn::parse_quote!(()),
            ReturnType::Type(_, of) if matches!(**of, Type::ImplTrait(_)) => {
                let expected = "expected a type that has a schema; write a function that returns a future as `async fn`";
                return Err(Error::new_spanned(of, expected));
            }
            ReturnType::Type(_, of) => (**of).clone(),
        };
        let takes_self = match signature.receiver() {
            Some(receiver) if !matches!(receiver.kind, ReceiverKind::Reference(_, _, None)) => {
                let expected =
                    "expected `&self`, since calls share the service and run concurrently";
                return Err(Error::new_spanned(receiver, expected));
            }
            receiver => receiver.is_some(),
        };
        Ok(Self {
            name,
            description,
            keys,
            conditions: attributes
                .iter()
                .filter(|attribute| attribute.path().is_ident("cfg"))
                .cloned()
                .collect(),
            function: ident.clone(),
            is_async: signature.asyncness.is_some(),
            takes_self,
            parameters: parameters?,
            output,
        })
    }

    /// Generates the expression that creates the tool. `called` is the path of the function; `belongs` sets the toolset
    /// and service of the spec. A method is called on `self`, an `Arc` that the calls share.
    pub(crate) fn expression(&self, called: &TokenStream, belongs: &TokenStream) -> TokenStream {
        let Self { name, description, keys: ToolKeys { tags, setters, blocking, .. }, .. } = self;
        // The function may have parameters with the same names, so these have the span of the macro.
        let [spec, arguments, call, service] = ["spec", "arguments", "call", "service"]
            .map(|name| Ident::new(name, Span::mixed_site()));
        let mut fields = TokenStream::new();
        let mut taken = quote!(__Arguments);
        let mut call_taken = None;
        let mut values = Vec::new();
        for parameter in &self.parameters {
            values.push(match parameter {
                Parameter::Property { attributes, name, of } => {
                    fields.extend(quote!(#(#attributes)* #name: #of,));
                    quote!(#arguments.#name)
                }
                Parameter::Arguments(of) => {
                    taken = quote!(#of);
                    quote!(::toolwright_runtime::tools::Parameters(#arguments))
                }
                Parameter::Call { by_reference } => {
                    call_taken = Some(quote!(, #call: ::toolwright_runtime::toolwright::ToolCall));
                    if *by_reference { quote!(&#call) } else { quote!(#call) }
                }
            });
        }
        let (share, share_again) = if self.takes_self {
            values.insert(0, quote!(&#service));
            let share = |from| quote!(let #service = ::std::sync::Arc::clone(#from););
            (share(quote!(self)), share(quote!(&#service)))
        } else {
            Default::default()
        };
        let mut running = quote!(#called(#(#values),*));
        if *blocking {
            running = quote!(::toolwright_runtime::execute::blocking(move || #running).await);
        } else if self.is_async {
            running.extend(quote!(.await));
        }
        // If a type cannot be used for tools, the compiler's error points to it.
        let output = &self.output;
        let has_schemas = [
            quote_spanned!(taken.span()=> takes::<_, #taken>();),
            quote_spanned!(output.span()=> returns::<_, #output>();),
        ];
        quote! {{
            #[derive(
                ::toolwright_runtime::serde::Deserialize,
                ::toolwright_runtime::schemars::JsonSchema
            )]
            #[serde(crate = "::toolwright_runtime::serde", deny_unknown_fields)]
            #[schemars(crate = "::toolwright_runtime::schemars")]
            struct __Arguments { #fields }

            let #spec = {
                use ::toolwright_runtime::toolwright::spec;
                spec::ToolSpec::new(#name)
                    .with_description(#description)
                    .with_tags(&[#(#tags),*])
                    #belongs
                    #setters
            };
            {
                fn takes<K, T: ::toolwright_runtime::tools::ToolArgs<K>>() {}
                fn returns<K, T: ::toolwright_runtime::tools::ToolOutput<K>>() {}
                #(#has_schemas)*
            }
            #share
            ::toolwright_runtime::FunctionTool::new(#spec, move |#arguments: #taken #call_taken| {
                #share_again
                async move { #running }
            })
        }}
    }
}

fn parameters(signature: &mut Signature) -> Result<Vec<Parameter>> {
    let is_of_field = |attribute: &mut Attribute| {
        ["doc", "serde", "schemars"].iter().any(|name| attribute.path().is_ident(name))
    };
    let typed = signature.inputs.iter_mut().filter_map(|input| match input {
        FnArg::Typed(input) => Some((input.attrs.extract_if(.., is_of_field).collect(), &*input)),
        FnArg::Receiver(_) => None,
    });
    let typed: Vec<(Vec<Attribute>, &PatType)> = typed.collect();
    let (mut parameters, mut names) = (Vec::new(), HashSet::new());
    for (attributes, input) in typed {
        if let Some(attribute) = input.attrs.iter().find(|attribute| is_conditional(attribute)) {
            let expected =
                "the properties of a tool cannot depend on a configuration; write a tool for each";
            return Err(Error::new_spanned(attribute, expected));
        }
        let parameter = parameter(attributes, input)?;
        let own = match &parameter {
            Parameter::Property { attributes, name, .. } => property_names(name, attributes)?,
            _ => Vec::new(),
        };
        if let Some(name) = own.into_iter().find(|name| !names.insert(name.clone())) {
            let found = format!("another property is named `{name}`, too; rename one of them");
            return Err(Error::new_spanned(input, found));
        }
        let is_call = |parameter: &Parameter| matches!(parameter, Parameter::Call { .. });
        let collides = parameters.iter().any(|other| match (&parameter, other) {
            (Parameter::Property { .. }, Parameter::Property { .. }) => false,
            (one, other) => is_call(one) == is_call(other),
        });
        if collides {
            let expected = "`Parameters<T>` holds all arguments of a tool, and there is only one call; remove this parameter";
            return Err(Error::new_spanned(input, expected));
        }
        parameters.push(parameter);
    }
    Ok(parameters)
}

fn is_conditional(attribute: &Attribute) -> bool {
    ["cfg", "cfg_attr"].iter().any(|name| attribute.path().is_ident(name))
}

/// The names that the arguments of a call can have for a property: its own, or the new one, and those beside it. Returns an error if
/// the schema has another name, which serde does not read.
fn property_names(own: &Ident, attributes: &[Attribute]) -> Result<Vec<String>> {
    let (mut name, mut aliases) = (own.unraw().to_string(), Vec::new());
    let mut in_schema = None;
    for attribute in attributes.iter().filter(|attribute| !attribute.path().is_ident("doc")) {
        let is_of_serde = attribute.path().is_ident("serde");
        let mut rename = |value: LitStr| {
            if is_of_serde {
                name = value.value();
            } else {
                in_schema = Some(value);
            }
        };
        // Serde and schemars report what they do not know.
        let _ = attribute.parse_nested_meta(|meta| {
            let is = |word| meta.path.is_ident(word);
            if is("rename") && meta.input.peek(token::Paren) {
                return meta.parse_nested_meta(|meta| {
                    let is_read = meta.path.is_ident("deserialize");
                    let value: LitStr = meta.value()?.parse()?;
                    if is_read {
                        rename(value);
                    }
                    Ok(())
                });
            }
            if meta.input.peek(token::Paren) {
                return meta.input.parse::<Group>().map(drop);
            }
            if !meta.input.peek(Token![=]) {
                return Ok(());
            }
            if let Expr::Lit(ExprLit { lit: Lit::Str(value), .. }) = meta.value()?.parse()? {
                if is("rename") {
                    rename(value);
                } else if is("alias") {
                    aliases.push(value.value());
                }
            }
            Ok(())
        });
    }
    if let Some(other) = in_schema.filter(|other| other.value() != name) {
        let found = format!(
            "serde reads this property as `{name}`; rename it for both with `#[serde(rename = {})]`",
            other.token()
        );
        return Err(Error::new_spanned(other, found));
    }
    aliases.push(name);
    Ok(aliases)
}

fn parameter(attributes: Vec<Attribute>, input: &PatType) -> Result<Parameter> {
    let of = &input.ty;
    let (referent, by_reference) = match &**of {
        Type::Reference(reference) if reference.mutability.is_none() => (&*reference.elem, true),
        other => (other, false),
    };
    let special = match (last_segment(referent), last_segment(of)) {
        (Some(last), _) if last.ident == "ToolCall" => Some(Parameter::Call { by_reference }),
        (_, Some(last)) if last.ident == "Parameters" => {
            only_argument(last).map(Parameter::Arguments)
        }
        _ => None,
    };
    if let Some(special) = special {
        let Some(attribute) = attributes.first() else { return Ok(special) };
        let expected = "this parameter is not a property; remove this attribute";
        return Err(Error::new_spanned(attribute, expected));
    }
    let unsupported = match &**of {
        Type::ImplTrait(_) => Some("expected a concrete type, since `impl Trait` has no schema"),
        Type::Reference(_) => Some(
            "expected a type without references, such as `String`, since each call decodes its own arguments",
        ),
        _ => None,
    };
    if let Some(expected) = unsupported {
        return Err(Error::new_spanned(of, expected));
    }
    match &*input.pat {
        Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
            Ok(Parameter::Property { attributes, name: pattern.ident.clone(), of: of.clone() })
        }
        pattern => {
            let expected = "expected the name of a property; use `Parameters<T>` for all arguments as one type";
            Err(Error::new_spanned(pattern, expected))
        }
    }
}

fn last_segment(of: &Type) -> Option<&PathSegment> {
    match of {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// The `T` of `Parameters<T>`.
fn only_argument(segment: &PathSegment) -> Option<Box<Type>> {
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(of) => Some(Box::new(of.clone())),
        _ => None,
    }
}
