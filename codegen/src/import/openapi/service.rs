//! What a document says about the whole service: what it is, where it is, how to sign in. Never a secret: there is none.

use super::super::warnings::Warnings;
use super::api::{Api, VERBS};
use super::{entries, text};
use crate::schema::Json;

/// What the service is for, with its addresses and credentials, for people.
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

fn servers(api: &Api) -> Vec<&str> {
    let Some(Json::Array(servers)) = api.root.get("servers") else { return Vec::new() };
    servers.iter().filter_map(|server| text(server, "url")).collect()
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
                    format!("`{name}`, a certificate of the client, which has no place yet")
                }
                other => format!("`{name}` of the kind `{other}`"),
            }
        })
        .collect()
}

/// Says what of the document nothing was made of.
pub(super) fn warn_of_rest(api: &Api, warnings: &mut Warnings) {
    if !entries(&api.root, "webhooks").is_empty() {
        warnings.add("webhooks were left out: they are calls of the service, not to it");
    }
    for (path, item) in entries(&api.root, "paths") {
        let Ok(item) = api.follow(item) else { continue };
        let operations = VERBS.iter().filter_map(|(key, verb)| Some((*verb, item.get(key)?)));
        for (verb, operation) in operations {
            for (key, words) in [
                (
                    "callbacks",
                    "`callbacks` were left out: they are calls of the service, not to it",
                ),
                (
                    "servers",
                    "`servers` of one operation were left out: all go below one base address",
                ),
            ] {
                if operation.get(key).is_some() {
                    warnings.at(format!("{verb} {path}"), words);
                }
            }
        }
        if item.get("servers").is_some() {
            warnings.at(path, "`servers` of one path were left out: all go below one base address");
        }
    }
}
