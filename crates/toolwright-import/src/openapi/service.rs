//! Describes the whole service: its title, base address and credentials. Secrets in addresses are left out.

use super::super::warnings::Warnings;
use super::api::{Api, Operation};
use super::{entries, text};
use toolwright::http::RedactedUrl;
use toolwright_codegen::internal::Json;

/// The description of the service, with its addresses and credentials; `None` if there is nothing to say.
pub(super) fn description(api: &Api) -> Option<String> {
    let info = api.root.get("info");
    let title = info.and_then(|info| text(info, "title"));
    let words = info.and_then(|info| text(info, "description"));
    let mut parts: Vec<String> = Vec::new();
    parts.extend(title.map(|title| format!("{}.", title.trim_end_matches('.'))));
    parts.extend(words.map(str::to_owned));
    let servers = servers(api);
    if !servers.is_empty() {
        parts.push(format!("Base address: {}.", servers.join(", or ")));
    }
    let credentials = credentials(api);
    if !credentials.is_empty() {
        parts.push(format!("Credentials: {}.", credentials.join("; ")));
    }
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

fn servers(api: &Api) -> Vec<String> {
    let Some(Json::Array(servers)) = api.root.get("servers") else { return Vec::new() };
    let urls = servers.iter().filter_map(|server| text(server, "url"));
    urls.map(|url| RedactedUrl::new(url).to_string()).collect()
}

fn credentials(api: &Api) -> Vec<String> {
    let Some(components) = api.root.get("components") else { return Vec::new() };
    let schemes = entries(components, "securitySchemes").iter();
    schemes
        .map(|(name, scheme)| {
            let scheme = api.follow(scheme).unwrap_or(scheme);
            let word = |key: &str| text(scheme, key).unwrap_or_default();
            match word("type") {
                "apiKey" => format!("`{name}`, a key in the {} `{}`", word("in"), word("name")),
                "http" => format!(
                    "`{name}`, {} in the header `Authorization`",
                    word("scheme").to_ascii_lowercase()
                ),
                "oauth2" => format!("`{name}`, a bearer token by OAuth 2"),
                "openIdConnect" => format!("`{name}`, a bearer token by OpenID Connect"),
                "mutualTLS" => {
                    format!("`{name}`, a client certificate, which is not supported")
                }
                other => format!("`{name}` of the type `{other}`"),
            }
        })
        .collect()
}

/// Warns of the parts of the document that are not imported, as far as the selected operations have them.
pub(super) fn warn_of_rest(api: &Api, chosen: &[Operation<'_>], warnings: &mut Warnings) {
    if !api.root.entries("webhooks").is_empty() {
        warnings.add("webhooks were left out: they are calls of the service, not to it");
    }
    for operation in chosen {
        let label = operation.label();
        if operation.definition.get("callbacks").is_some() {
            warnings
                .at(&label, "`callbacks` were left out: they are calls of the service, not to it");
        }
        let owners = [operation.definition, operation.item];
        if owners.iter().any(|owner| owner.get("servers").is_some()) {
            warnings.at(
                &label,
                "`servers` of an operation were left out: all operations have the same base address",
            );
        }
    }
}
