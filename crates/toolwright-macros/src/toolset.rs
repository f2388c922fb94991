//! `#[toolset]` on impl blocks.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Error, ImplItem, Item, Meta, Result};

use crate::function::Tool;
use crate::keys::{ToolsetKeys, doc_comment};

/// Adds the method that returns the tools to an impl block.
pub(crate) fn expand(keys: TokenStream, item: &mut Item) -> Result<TokenStream> {
    let Item::Impl(block) = item else {
        let expected = "expected an impl block; for a function use `#[tool]`";
        return Err(Error::new_spanned(item, expected));
    };
    // Attributes are removed from all methods before errors are reported, so that the compiler does not report them
    // too.
    let methods = block.items.iter_mut().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    });
    let mut tools = Vec::new();
    for method in methods {
        let attribute = method.attrs.extract_if(.., |attribute| is_tool(attribute)).next();
        if let Some(attribute) = attribute {
            let tool = Tool::read(tool_keys(attribute), &method.attrs, &mut method.sig);
            tools.push((method.sig.ident.clone(), tool));
        }
    }
    if let Some((path, _)) = &block.trait_ {
        let expected = "expected an impl block of the type itself, not of a trait";
        return Err(Error::new_spanned(path, expected));
    }
    let ToolsetKeys { name, description, service, tags, function } = ToolsetKeys::parse(keys)?;
    if tools.is_empty() {
        let expected = "this block has no tool; write `#[tool]` on one of its methods";
        return Err(Error::new_spanned(&block.self_ty, expected));
    }
    let description = match description {
        Some(description) => Some(description),
        None => doc_comment(&block.attrs)?,
    };
    let (description, service) = (description.iter(), service.iter());
    let belongs = quote! {
        .in_toolset(&spec::ToolsetInfo {
            name: #name,
            description: concat!(#(#description)*),
            service: concat!(#(#service)*),
        })
    };

    let mut names = BTreeSet::new();
    let mut pushes = TokenStream::new();
    let mut mistakes: Option<Error> = None;
    for (method, tool) in tools {
        let checked = tool.and_then(|mut tool| {
            if let Some(key) = tool.keys.toolset.as_ref().or(tool.keys.service.as_ref()) {
                let expected = "a method has the toolset and service of its block; remove the key";
                return Err(Error::new(key.span(), expected));
            }
            let name = tool.name.value();
            if tool.conditions.is_empty() && !names.insert(name.clone()) {
                let message =
                    format!("two tools of this block have the name `{name}`; rename one of them");
                return Err(Error::new(tool.name.span(), message));
            }
            tool.keys.tags.splice(..0, tags.iter().cloned());
            Ok(tool)
        });
        match (checked, &mut mistakes) {
            (Ok(tool), _) => {
                let conditions = &tool.conditions;
                let tool = tool.expression(&quote!(Self::#method), &belongs);
                pushes.extend(quote!(#(#conditions)* tools.push(#tool);));
            }
            (Err(mistake), Some(mistakes)) => mistakes.combine(mistake),
            (Err(mistake), None) => mistakes = Some(mistake),
        }
    }
    if let Some(mistakes) = mistakes {
        return Err(mistakes);
    }
    let function = function.unwrap_or_else(|| format_ident!("tools"));
    let doc = format!("The tools of the toolset `{}`, which share this service.", name.value());
    block.items.push(syn::parse_quote! {
        #[doc = #doc]
        #[must_use]
        pub fn #function(
            self: &::std::sync::Arc<Self>,
        ) -> ::std::vec::Vec<::toolwright_runtime::FunctionTool> {
            let mut tools = ::std::vec::Vec::new();
            #pushes
            tools
        }
    });
    Ok(TokenStream::new())
}

/// Returns true if an attribute is `#[tool]`, with any path.
fn is_tool(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "tool")
}

fn tool_keys(attribute: Attribute) -> Result<TokenStream> {
    match attribute.meta {
        Meta::Path(_) => Ok(TokenStream::new()),
        Meta::List(list) => Ok(list.tokens),
        Meta::NameValue(other) => {
            Err(Error::new_spanned(other, "expected `#[tool]` or `#[tool(…)]`"))
        }
    }
}
