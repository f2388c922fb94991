//! The types of `schema/tracker.yaml`, written by hand with serde's derive. Decoding checks no limits. The limits of
//! `SearchIncidents` are attributes for schemars, so that a validator can check them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The severity of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// `"low"`
    Low,
    /// `"medium"`
    Medium,
    /// `"high"`
    High,
    /// `"critical"`
    Critical,
}

/// A region of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// `"eu_west"`
    EuWest,
    /// `"eu_north"`
    EuNorth,
    /// `"us_east"`
    UsEast,
    /// `"us_west"`
    UsWest,
    /// `"ap_south"`
    ApSouth,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// `"detected"`
    Detected,
    /// `"acknowledged"`
    Acknowledged,
    /// `"commented"`
    Commented,
    /// `"mitigated"`
    Mitigated,
    /// `"resolved"`
    Resolved,
}

/// A person who works on an incident.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Person {
    /// `id`
    #[schemars(range(min = 1))]
    pub id: i64,
    /// `name`
    #[schemars(length(min = 1, max = 80))]
    pub name: String,
    /// `email`
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 120))]
    pub email: Option<String>,
    /// `on_call`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_call: Option<bool>,
}

/// The impact of an incident on users.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Impact {
    /// `users`
    pub users: i64,
    /// The affected requests in percent.
    pub share: f64,
    /// `regions`
    pub regions: Vec<Region>,
    /// `revenue_loss`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revenue_loss: Option<f64>,
}

/// An entry of the timeline.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Event {
    /// Seconds since the incident began.
    pub at: i64,
    /// `kind`
    pub kind: EventKind,
    /// `by`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// `text`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A link to another page.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Link {
    /// `title`
    pub title: String,
    /// `url`
    pub url: String,
}

/// An incident.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Incident {
    /// `key`
    pub key: String,
    /// `title`
    pub title: String,
    /// `description`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `severity`
    pub severity: Severity,
    /// `reporter`
    pub reporter: Person,
    /// `assignees`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignees: Option<Vec<Person>>,
    /// `impact`
    pub impact: Impact,
    /// `timeline`
    pub timeline: Vec<Event>,
    /// `tags`
    pub tags: Vec<String>,
    /// `links`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<Link>>,
    /// `duplicate_of`: serde has no form for both absent and null, so absent is written as null.
    pub duplicate_of: Option<String>,
    /// `public`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<bool>,
}

/// The incidents to search for.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SearchIncidents {
    /// `query`
    #[schemars(length(min = 1, max = 400))]
    pub query: String,
    /// `severities`
    #[schemars(length(max = 4))]
    pub severities: Vec<Severity>,
    /// `regions`
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 5))]
    pub regions: Option<Vec<Region>>,
    /// `opened_by`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_by: Option<Person>,
    /// `min_share`
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub min_share: Option<f64>,
    /// `limit`
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<i64>,
    /// `cursor`: serde has no form for both absent and null, so absent is written as null.
    #[schemars(length(max = 100))]
    pub cursor: Option<String>,
    /// `include_closed`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_closed: Option<bool>,
}
