//! Parses the keys of the attributes, and doc comments.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Expr, Ident, Lit, LitBool, LitInt, LitStr, Meta, Result, Token};

const TOOL: &str = "`name`, `description`, `title`, `annotations`, `approval`, `timeout`, `attempts`, `sequential`, \
                    `blocking`, `hints`, `strict`, `defer`, `tags`, `aliases`, `deprecated`, `toolset` and `service`";
const TOOLSET: &str = "`name`, `description`, `service`, `tags` and `function`";
const ANNOTATIONS: &str =
    "`read_only_hint`, `destructive_hint`, `idempotent_hint` and `open_world_hint`";

/// The units of a timeout in milliseconds; `ms` is before `m` and `s`, since it is tried first.
const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// The maximum length of a tool's name: "Tool Names" in the MCP specification, 2025-11-25.
const MAX_NAME: usize = 128;

/// The keys of `#[tool]`.
#[derive(Default)]
pub(crate) struct ToolKeys {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) toolset: Option<LitStr>,
    pub(crate) service: Option<LitStr>,
    /// True if it runs on a thread for blocking work.
    pub(crate) blocking: bool,
    /// The calls of `ToolSpec` setters for the other keys.
    pub(crate) setters: TokenStream,
}

/// The keys of `#[toolset]`.
pub(crate) struct ToolsetKeys {
    pub(crate) name: LitStr,
    pub(crate) description: Option<LitStr>,
    pub(crate) service: Option<LitStr>,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) function: Option<Ident>,
}

impl ToolKeys {
    pub(crate) fn parse(keys: TokenStream) -> Result<Self> {
        let mut read = Self::default();
        let (mut timeout, mut attempts, mut sequential) = (None, None, false);
        each_key(|key, meta| {
            let setter = match key {
                "name" => return text(meta).map(|name| read.name = Some(name)),
                "description" => return text(meta).map(|text| read.description = Some(text)),
                "tags" => return texts(meta).map(|tags| read.tags = tags),
                "toolset" => return text(meta).map(|text| read.toolset = Some(text)),
                "service" => return text(meta).map(|text| read.service = Some(text)),
                "timeout" => {
                    let milliseconds = milliseconds(&text(meta)?)?;
                    timeout = Some(quote!(::std::time::Duration::from_millis(#milliseconds)));
                    return Ok(());
                }
                "attempts" => {
                    let count: LitInt = meta.value()?.parse()?;
                    if count.base10_parse::<u32>()? == 0 {
                        return Err(Error::new(
                            count.span(),
                            "found 0 attempts, expected at least 1",
                        ));
                    }
                    attempts = Some(count);
                    return Ok(());
                }
                "blocking" => return flag(meta).map(|is_set| read.blocking = is_set),
                "sequential" => return flag(meta).map(|is_set| sequential = is_set),
                "title" => {
                    let title = text(meta)?;
                    quote!(.with_title(#title))
                }
                "strict" => strictness(meta)?,
                "defer" => {
                    if flag(meta)? {
                        quote!(.deferred())
                    } else {
                        quote!()
                    }
                }
                "aliases" => {
                    let aliases = texts(meta)?;
                    aliases.iter().try_for_each(check_name)?;
                    quote!(.with_aliases(&[#(#aliases),*]))
                }
                "annotations" => annotations(meta)?,
                "approval" => approval(meta)?,
                "hints" => {
                    let [call, result] = optional_texts(meta, ["call", "result"])?;
                    quote!(.with_hints(spec::Hints { call: #call, result: #result }))
                }
                "deprecated" => {
                    let [since, replacement, until] =
                        optional_texts(meta, ["since", "replacement", "until"])?;
                    quote! {
                        .with_deprecation(spec::Deprecation {
                            since: #since,
                            replacement: #replacement,
                            until: #until,
                        })
                    }
                }
                _ => return Err(unknown(meta, TOOL)),
            };
            read.setters.extend(setter);
            Ok(())
        })
        .parse2(keys)?;
        let (timeout, attempts) = (option(timeout), option(attempts));
        read.setters.extend(quote! {
            .with_limits(spec::CallLimits { timeout: #timeout, attempts: #attempts, sequential: #sequential })
        });
        Ok(read)
    }
}

impl ToolsetKeys {
    pub(crate) fn parse(keys: TokenStream) -> Result<Self> {
        let (mut name, mut description, mut service, mut function) = (None, None, None, None);
        let mut tags = Vec::new();
        each_key(|key, meta| {
            match key {
                "name" => name = Some(text(meta)?),
                "description" => description = Some(text(meta)?),
                "service" => service = Some(text(meta)?),
                "tags" => tags = texts(meta)?,
                "function" => function = Some(meta.value()?.parse()?),
                _ => return Err(unknown(meta, TOOLSET)),
            }
            Ok(())
        })
        .parse2(keys)?;
        let unnamed =
            || Error::new(Span::call_site(), "a toolset needs a name: `#[toolset(name = \"…\")]`");
        Ok(Self { name: name.ok_or_else(unnamed)?, description, service, tags, function })
    }
}

/// Parses keys that are separated by commas; each is allowed once.
fn each_key(
    read: impl FnMut(&str, &ParseNestedMeta<'_>) -> Result<()>,
) -> impl Parser<Output = ()> {
    syn::meta::parser(once(read))
}

fn once(
    mut read: impl FnMut(&str, &ParseNestedMeta<'_>) -> Result<()>,
) -> impl FnMut(ParseNestedMeta<'_>) -> Result<()> {
    let mut seen = BTreeSet::new();
    move |meta| {
        let key = meta.path.get_ident().map(|key| key.unraw().to_string()).unwrap_or_default();
        if !seen.insert(key.clone()) {
            return Err(meta.error(format!("`{key}` is given twice")));
        }
        read(&key, &meta)
    }
}

fn unknown(meta: &ParseNestedMeta<'_>, known: &str) -> Error {
    meta.error(format!("unknown key, expected one of {known}"))
}

/// Parses `= "…"` with a text that is not empty.
fn text(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    let text: LitStr = meta.value()?.parse()?;
    if text.value().trim().is_empty() {
        return Err(Error::new(
            text.span(),
            "found an empty text, expected a text; write one, or remove the key",
        ));
    }
    Ok(text)
}

/// Parses `= ["…", "…"]`.
fn texts(meta: &ParseNestedMeta<'_>) -> Result<Vec<LitStr>> {
    let value = meta.value()?;
    let content;
    syn::bracketed!(content in value);
    let texts = Punctuated::<LitStr, Token![,]>::parse_terminated(&content)?;
    Ok(texts.into_iter().collect())
}

/// Parses `= true`, `= false`, or nothing, which is true.
fn flag(meta: &ParseNestedMeta<'_>) -> Result<bool> {
    if !meta.input.peek(Token![=]) {
        return Ok(true);
    }
    Ok(meta.value()?.parse::<LitBool>()?.value)
}

/// Parses `(key = "…", …)` and returns an optional text of a spec for each known key.
fn optional_texts<const N: usize>(
    meta: &ParseNestedMeta<'_>,
    known: [&str; N],
) -> Result<[TokenStream; N]> {
    let mut optional_texts = known.map(|_| quote!(None));
    meta.parse_nested_meta(once(|key, meta| {
        let Some(position) = known.iter().position(|known| *known == key) else {
            return Err(unknown(meta, &known.map(|key| format!("`{key}`")).join(" and ")));
        };
        let text = text(meta)?;
        optional_texts[position] = quote!(Some(spec::text(#text)));
        Ok(())
    }))?;
    Ok(optional_texts)
}

/// Parses `= "always"`, `= "prefer"` or `= "never"`.
fn strictness(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    let word = text(meta)?;
    let strictness = match word.value().as_str() {
        "always" => quote!(Always),
        "prefer" => quote!(Prefer),
        "never" => quote!(Never),
        other => {
            let message = format!("found `{other}`, expected `always`, `prefer` or `never`");
            return Err(Error::new(word.span(), message));
        }
    };
    Ok(quote!(.with_strictness(spec::Strictness::#strictness)))
}

fn annotations(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    let [mut read_only, mut destructive, mut idempotent, mut open_world] = [const { None }; 4];
    meta.parse_nested_meta(once(|key, meta| {
        let hint = match key {
            "read_only_hint" => &mut read_only,
            "destructive_hint" => &mut destructive,
            "idempotent_hint" => &mut idempotent,
            "open_world_hint" => &mut open_world,
            "title" => {
                let expected = "the title is not an annotation; write `title = \"…\"` outside of `annotations`";
                return Err(meta.error(expected));
            }
            _ => return Err(unknown(meta, ANNOTATIONS)),
        };
        *hint = Some(meta.value()?.parse::<LitBool>()?);
        Ok(())
    }))?;
    let [read_only, destructive, idempotent, open_world] =
        [read_only, destructive, idempotent, open_world].map(option);
    Ok(quote! {
        .with_annotations(spec::ToolAnnotations {
            read_only: #read_only,
            destructive: #destructive,
            idempotent: #idempotent,
            open_world: #open_world,
        })
    })
}

fn approval(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    let [mut prompt, mut denied, mut metadata] = [const { None }; 3];
    if meta.input.peek(syn::token::Paren) {
        meta.parse_nested_meta(once(|key, meta| {
            let (field, value) = match key {
                "prompt" => (&mut prompt, text(meta)?.into_token_stream()),
                "denied" => (&mut denied, text(meta)?.into_token_stream()),
                "metadata" => {
                    let object = object(meta)?;
                    (&mut metadata, quote!(#object.to_string()))
                }
                _ => return Err(unknown(meta, "`prompt`, `denied` and `metadata`")),
            };
            *field = Some(quote!(#value.into()));
            Ok(())
        }))?;
    }
    let [prompt, denied, metadata] = [prompt, denied, metadata].map(option);
    Ok(quote! {
        .with_approval(spec::Approval { prompt: #prompt, denied: #denied, metadata: #metadata })
    })
}

fn option(value: Option<impl ToTokens>) -> TokenStream {
    value.map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}

/// Parses `(key = …, key(…), key)` as a JSON object of strings, integers, booleans and objects.
fn object(meta: &ParseNestedMeta<'_>) -> Result<TokenStream> {
    let mut entries = Vec::new();
    meta.parse_nested_meta(once(|key, meta| {
        let value = if meta.input.peek(syn::token::Paren) {
            object(meta)?
        } else if meta.input.peek(Token![=]) {
            let value: Lit = meta.value()?.parse()?;
            match value {
                Lit::Str(_) | Lit::Int(_) | Lit::Bool(_) => {
                    quote!(::toolwright_runtime::toolwright::Value::from(#value))
                }
                _ => {
                    return Err(Error::new(
                        value.span(),
                        "expected a string, an integer, `true` or `false`",
                    ));
                }
            }
        } else {
            quote!(::toolwright_runtime::toolwright::Value::from(true))
        };
        entries.push(quote!((#key, #value)));
        Ok(())
    }))?;
    Ok(
        quote!(::toolwright_runtime::toolwright::Value::Object([#(#entries),*].into_iter().collect())),
    )
}

/// Parses a duration like `toolwright::spec::parse_period`. Calling that function would make users of the macros
/// compile the crate `toolwright` twice.
fn milliseconds(text: &LitStr) -> Result<u64> {
    let written = text.value();
    let length = UNITS.iter().find_map(|(unit, milliseconds)| {
        let digits = written.strip_suffix(unit)?;
        // `u64::from_str` accepts a sign.
        let is_count = digits.bytes().all(|byte| byte.is_ascii_digit());
        let count: u64 = is_count.then(|| digits.parse().ok())??;
        count.checked_mul(*milliseconds).filter(|length| *length > 0)
    });
    let expected = "expected a length of time above zero, such as `500ms`, `5s`, `2m` or `1h`";
    length.ok_or_else(|| Error::new(text.span(), expected))
}

pub(crate) fn check_name(name: &LitStr) -> Result<()> {
    let text = name.value();
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    if !text.is_empty() && text.len() <= MAX_NAME && text.bytes().all(is_allowed) {
        return Ok(());
    }
    let expected = format!("expected a name of 1 to {MAX_NAME} letters, digits, `_`, `-` and `.`");
    Err(Error::new(name.span(), expected))
}

/// Returns the text of a doc comment; `None` if there is no comment.
pub(crate) fn doc_comment(attributes: &[Attribute]) -> Result<Option<LitStr>> {
    let mut lines = Vec::new();
    let mut span = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Meta::NameValue(doc) = &attribute.meta else { continue };
        let Expr::Lit(syn::ExprLit { lit: Lit::Str(line), .. }) = &doc.value else {
            let expected = "expected a doc comment, or `description = \"…\"` in the attribute";
            return Err(Error::new_spanned(&doc.value, expected));
        };
        span.get_or_insert(line.span());
        let line = line.value();
        lines.push(line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned());
    }
    let text = lines.join("\n").trim().to_owned();
    Ok(span.filter(|_| !text.is_empty()).map(|span| LitStr::new(&text, span)))
}

#[cfg(test)]
mod tests {
    use toolwright::spec::parse_period;

    use super::*;

    #[test]
    fn timeouts_are_parsed_like_periods_of_the_contract() {
        let numbers = ["", "0", "1", "007", "+5", "-5", "1.5", "5 ", "18446744073709551615"];
        for (number, unit) in numbers
            .iter()
            .flat_map(|number| ["", "ms", "s", "m", "h", "S", "d"].map(|unit| (number, unit)))
        {
            let text = format!("{number}{unit}");
            let read = milliseconds(&LitStr::new(&text, Span::call_site())).ok();
            let expected = parse_period(&text).ok().map(|period| period.as_millis());
            assert_eq!(read.map(u128::from), expected, "{text}");
        }
    }
}
