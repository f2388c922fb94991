//! Types with codecs in the form of generated code: one of each kind that a schema can describe.

use toolwright::codec::{
    Decode, Encode, Items, Length, Pattern, Properties, Range, Reader, Writer, from_json, to_json,
};
use toolwright::{Integer, InvalidPayload, Map, Nullable, Value};

/// An object with every kind of scalar and limit, which refuses other keys.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) id: String,
    pub(crate) status: Status,
    pub(crate) count: Option<i64>,
    pub(crate) size: Option<Integer>,
    pub(crate) ratio: Option<f64>,
    pub(crate) done: Option<bool>,
    pub(crate) note: Option<Nullable<String>>,
    pub(crate) sha: Option<String>,
    pub(crate) version: Option<One>,
    pub(crate) tags: Vec<String>,
}

static SHA: Pattern = Pattern::new("^[a-f0-9]{4}$", "^[a-f0-9]{4}$");

const ID: Length = Length::ANY.at_least(1).at_most(8);
const COUNT: Range<i64> = Range::<i64>::ANY.at_least(0).at_most(100);
const SIZE: Range<i128> = Range::<i128>::ANY.at_least(10);
const RATIO: Range<f64> = Range::<f64>::ANY.above(0.0).below(1.5);
const TAGS: Items = Items::ANY.at_least(1).at_most(3);

impl Decode for Item {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        let (mut id, mut status, mut count, mut size) = (None, None, None, None);
        let (mut ratio, mut done, mut note, mut sha) = (None, None, None, None);
        let (mut version, mut tags) = (None, None);
        let mut object = input.object()?;
        while let Some(key) = object.next_key(input) {
            match key {
                "id" => id = input.string(ID),
                "status" => status = Status::decode(input),
                "count" => count = input.integer(COUNT),
                "size" => size = input.big_integer(SIZE),
                "ratio" => ratio = input.number(RATIO),
                "done" => done = input.boolean(),
                "note" => {
                    note = input.nullable(|v| v.string(Length::ANY)).map(Nullable::from);
                }
                "sha" => sha = input.string(Length::ANY.matching(&SHA)),
                "version" => version = One::decode(input),
                "tags" => tags = input.array(TAGS, |v| v.string(Length::ANY)),
                _ => object.unknown_key(
                    input,
                    &[
                        "id", "status", "count", "size", "ratio", "done", "note", "sha", "version",
                        "tags",
                    ],
                ),
            }
        }
        let id = object.required(input, "id", id);
        let status = object.required(input, "status", status);
        let tags = object.required(input, "tags", tags);
        Some(Self {
            id: id?,
            status: status?,
            count,
            size,
            ratio,
            done,
            note,
            sha,
            version,
            tags: tags?,
        })
    }
}

impl Encode for Item {
    fn encode(&self, out: &mut Writer) {
        let Some(mut object) = out.object() else { return };
        object.key("id").string(&self.id, ID);
        self.status.encode(object.key("status"));
        if let Some(v) = &self.count {
            object.key("count").integer(*v, COUNT);
        }
        if let Some(v) = &self.size {
            object.key("size").big_integer(v, SIZE);
        }
        if let Some(v) = &self.ratio {
            object.key("ratio").number(*v, RATIO);
        }
        if let Some(v) = &self.done {
            object.key("done").boolean(*v);
        }
        if let Some(v) = &self.note {
            object.key("note").nullable(v.as_option(), |w, v| w.string(v, Length::ANY));
        }
        if let Some(v) = &self.sha {
            object.key("sha").string(v, Length::ANY.matching(&SHA));
        }
        if let Some(v) = &self.version {
            v.encode(object.key("version"));
        }
        object.key("tags").array(&self.tags, TAGS, |w, v| w.string(v, Length::ANY));
        object.end();
    }
}

/// A string enum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Pending,
    InProgress,
    Done,
}

static STATUSES: [&str; 3] = ["pending", "in_progress", "done"];

impl Decode for Status {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.variant(&STATUSES, &[Self::Pending, Self::InProgress, Self::Done])
    }
}

impl Encode for Status {
    fn encode(&self, out: &mut Writer) {
        out.string(STATUSES[*self as usize], Length::ANY);
    }
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct One;

impl Decode for One {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        input.constant("1").map(|()| Self)
    }
}

impl Encode for One {
    fn encode(&self, out: &mut Writer) {
        out.constant("1");
    }
}

/// An object that keeps other keys whose values are integers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scores {
    pub(crate) name: String,
    pub(crate) additional: Map<i64>,
}

impl Decode for Scores {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        let mut name = None;
        let mut additional = Map::new();
        let mut object = input.object()?;
        while let Some(key) = object.next_key(input) {
            match key {
                "name" => name = input.string(Length::ANY),
                _ => object.additional(input, &mut additional, |v| v.integer(COUNT)),
            }
        }
        let name = object.required(input, "name", name);
        Some(Self { name: name?, additional })
    }
}

impl Encode for Scores {
    fn encode(&self, out: &mut Writer) {
        let Some(mut object) = out.object() else { return };
        object.key("name").string(&self.name, Length::ANY);
        object.additional(&self.additional, &["name"], |w, v| w.integer(*v, COUNT));
        object.end();
    }
}

/// An object that keeps any other key, and refers to itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) next: Option<Box<Node>>,
    pub(crate) children: Option<Vec<Node>>,
    pub(crate) additional: Map<Value>,
}

impl Decode for Node {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        let (mut next, mut children) = (None, None);
        let mut additional = Map::new();
        let mut object = input.object()?;
        while let Some(key) = object.next_key(input) {
            match key {
                "next" => next = Self::decode(input).map(Box::new),
                "children" => children = input.array(Items::ANY, Self::decode),
                _ => object.additional(input, &mut additional, Reader::value),
            }
        }
        Some(Self { next, children, additional })
    }
}

impl Encode for Node {
    fn encode(&self, out: &mut Writer) {
        let Some(mut object) = out.object() else { return };
        if let Some(v) = &self.next {
            v.encode(object.key("next"));
        }
        if let Some(v) = &self.children {
            object.key("children").array(v, Items::ANY, |w, v| v.encode(w));
        }
        object.additional(&self.additional, &["next", "children"], Writer::value);
        object.end();
    }
}

/// A union whose tag is `kind`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Circle(Circle),
    Group(Group),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Circle {
    pub(crate) radius: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    pub(crate) shapes: Map<Shape>,
}

impl Decode for Shape {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        match input.tag("kind", &["circle", "group"])? {
            "circle" => Circle::decode(input).map(Self::Circle),
            _ => Group::decode(input).map(Self::Group),
        }
    }
}

impl Encode for Shape {
    fn encode(&self, out: &mut Writer) {
        match self {
            Self::Circle(circle) => circle.encode(out),
            Self::Group(group) => group.encode(out),
        }
    }
}

impl Decode for Circle {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        let (mut kind, mut radius) = (None, None);
        let mut object = input.object()?;
        while let Some(key) = object.next_key(input) {
            match key {
                "kind" => kind = input.constant("\"circle\""),
                "radius" => radius = input.number(Range::<f64>::ANY),
                _ => object.unknown_key(input, &["kind", "radius"]),
            }
        }
        let kind = object.required(input, "kind", kind);
        let radius = object.required(input, "radius", radius);
        kind?;
        Some(Self { radius: radius? })
    }
}

impl Encode for Circle {
    fn encode(&self, out: &mut Writer) {
        let Some(mut object) = out.object() else { return };
        object.key("kind").constant("\"circle\"");
        object.key("radius").number(self.radius, Range::<f64>::ANY);
        object.end();
    }
}

impl Decode for Group {
    fn decode(input: &mut Reader<'_>) -> Option<Self> {
        let (mut kind, mut shapes) = (None, None);
        let mut object = input.object()?;
        while let Some(key) = object.next_key(input) {
            match key {
                "kind" => kind = input.constant("\"group\""),
                "shapes" => shapes = input.map(Properties::ANY, Shape::decode),
                _ => object.unknown_key(input, &["kind", "shapes"]),
            }
        }
        let kind = object.required(input, "kind", kind);
        let shapes = object.required(input, "shapes", shapes);
        kind?;
        Some(Self { shapes: shapes? })
    }
}

impl Encode for Group {
    fn encode(&self, out: &mut Writer) {
        let Some(mut object) = out.object() else { return };
        object.key("kind").constant("\"group\"");
        object.key("shapes").map(&self.shapes, Properties::ANY, |w, v| v.encode(w));
        object.end();
    }
}

toolwright::serde_bridge!(Item, Status, Scores, Node, Shape);

/// Returns the issues of a payload as sentences.
pub(crate) fn issues<T: Decode>(json: &str) -> Vec<String> {
    sentences(from_json::<T>(json.as_bytes()).map(drop))
}

/// Returns the issues of encoding a value as sentences.
pub(crate) fn encoding_issues<T: Encode>(value: &T) -> Vec<String> {
    sentences(to_json(value).map(drop))
}

fn sentences(result: Result<(), InvalidPayload>) -> Vec<String> {
    let issues = result.err().map(|invalid| invalid.issues().to_vec());
    issues.unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// Decodes and encodes a payload.
pub(crate) fn round_trip<T: Decode + Encode>(json: &str) -> Result<String, InvalidPayload> {
    to_json(&from_json::<T>(json.as_bytes())?)
}
