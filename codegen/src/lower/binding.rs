//! Binds tools to methods: finds the injected properties of the payload, the arguments of the tool, and whether the result
//! is reshaped.

use super::compatibility::{Direction, Handover, check_not_declared};
use super::schemas::Reading;
use super::toolsets::{Origin, WrittenTool, report_unknown_method};
use super::{Declared, output_limits};
use crate::diagnostic::{Report, names, tools};
use crate::json::Json;
use crate::model::{ArgsShape, Binding, Injection, InjectionSource, Method, MethodId, ServiceId};
use crate::schema::{
    Node, NodeId, ObjectShape, Property, Schemas, Shape, aliased, as_object, resolved,
};
use crate::source::Spanned;
use crate::syntax::{Entries, SchemaText};

/// The sources of injected values, besides `label:KEY`.
const SOURCES: [(&str, InjectionSource); 5] = [
    ("run_id", InjectionSource::RunId),
    ("session_id", InjectionSource::SessionId),
    ("turn_id", InjectionSource::TurnId),
    ("call_id", InjectionSource::CallId),
    ("parent_call_id", InjectionSource::ParentCallId),
];

/// The arguments and the result of a tool.
pub(super) struct Signature {
    pub(super) args: NodeId,
    pub(super) result: NodeId,
    pub(super) binding: Option<Binding>,
}

/// The bindings made so far.
#[derive(Default)]
pub(super) struct Bindings {
    /// Declared schemas that differ from the method's.
    pub(super) handovers: Vec<Handover>,
    /// The number of properties of the payloads and of errors of all bindings.
    size: usize,
}

/// Returns the method that a tool binds to; `owner` owns the tool's toolset.
pub(super) fn bound_method(
    declared: Declared<'_>,
    owner: ServiceId,
    bind: &Spanned<String>,
    report: &mut Report,
) -> Option<MethodId> {
    let Declared { services, methods, .. } = declared;
    let (service, method) = match bind.value.split_once('.') {
        Some((name, method)) => (services.named(name), method),
        None => (Some(owner), bind.value.as_str()),
    };
    let found = service.and_then(|service| methods.named(service, method));
    if found.is_none() {
        report_unknown_method(services, methods, bind, report);
    } else if service != Some(owner) {
        report.add(tools::foreign_binding(bind, services.name(owner)));
        return None;
    }
    found
}

impl Bindings {
    /// Returns whether the methods are too large in total; further bindings are then skipped.
    pub(super) fn are_too_many(&self) -> bool {
        self.size > output_limits::MAX_BOUND
    }

    /// Returns the signature of a tool that is bound to a method.
    pub(super) fn signature(
        &mut self,
        declared: Declared<'_>,
        owner: ServiceId,
        tool: &WrittenTool<'_>,
        method: MethodId,
        reading: &mut Reading<'_>,
        report: &mut Report,
    ) -> Signature {
        let called = &declared.methods.list[method.position()];
        let payload = as_object(&reading.schemas, called.payload);
        let were_too_many = self.are_too_many();
        self.size += payload.map_or(0, |object| object.properties.len()) + called.errors.len();
        if self.are_too_many() {
            if !were_too_many {
                output_limits::report_bound(tool.name.span, report);
            }
            return Signature { args: called.payload, result: called.result, binding: None };
        }
        let payload = payload.cloned();
        let (args_text, result_text) = match tool.origin {
            Origin::Toolset(text) => (text.args.as_ref(), text.result.as_ref()),
            Origin::Method(_) => (None, None),
        };
        let (args, mut binding) = match (&payload, args_text) {
            (Some(payload), text) => {
                let inject = injections(tool, called, payload, &reading.schemas, report);
                let (args, shape) =
                    self.args(declared, method, tool, payload, text, &inject, reading, report);
                (args, Some(Binding { method, args: shape, reshapes_result: false, inject }))
            }
            // A payload that is invalid or not an object has been reported at the method.
            (None, Some(text)) => (reading.object(owner, &text.0, "`args`", report), None),
            (None, None) => (reading.invalid(tool.name.span), None),
        };
        let mut result = called.result;
        let service = &declared.services.name(owner).value;
        let of_method = declared.methods.texts[method.position()].result.as_ref();
        if let Some(text) = result_text
            && !are_same(reading, service, text, of_method)
        {
            result = reading.schema(owner, &text.0, report);
            let (span, direction) = (text.0.span, Direction::Result);
            self.handovers.push(Handover { span, from: called.result, to: result, direction });
        }
        if let Some(binding) = &mut binding {
            binding.reshapes_result = result != called.result;
        }
        Signature { args, result, binding }
    }

    /// Returns the arguments of a tool, and how they relate to the payload of its method.
    fn args(
        &mut self,
        declared: Declared<'_>,
        method: MethodId,
        tool: &WrittenTool<'_>,
        payload: &ObjectShape,
        text: Option<&SchemaText>,
        inject: &[Injection],
        reading: &mut Reading<'_>,
        report: &mut Report,
    ) -> (NodeId, ArgsShape) {
        let called = &declared.methods.list[method.position()];
        let service = &declared.services.name(called.service).value;
        let of_method = declared.methods.texts[method.position()].payload.as_ref();
        match text {
            None if inject.is_empty() => (called.payload, ArgsShape::Same),
            None => {
                let args = derived(tool, called.payload, payload, inject, reading, report);
                (args, ArgsShape::Derived)
            }
            Some(text) if are_same(reading, service, text, of_method) => {
                for injection in inject {
                    check_not_declared(payload, &injection.property, report);
                }
                (called.payload, ArgsShape::Same)
            }
            Some(text) => {
                let (span, to) = (text.0.span, called.payload);
                let from = reading.object(called.service, &text.0, "`args`", report);
                let injected = inject.iter().map(|injection| injection.property.clone()).collect();
                let direction = Direction::Args { injected };
                self.handovers.push(Handover { span, from, to, direction });
                (from, ArgsShape::Declared)
            }
        }
    }
}

fn injections(
    tool: &WrittenTool<'_>,
    method: &Method,
    payload: &ObjectShape,
    schemas: &Schemas,
    report: &mut Report,
) -> Vec<Injection> {
    let mut injections = Vec::new();
    for (name, source) in tool.details.inject.iter().flat_map(Entries::iter) {
        let property = payload.properties.iter().find(|property| property.name.value == name.value);
        let required = match property {
            Some(property) => injected_string(name, method, property, schemas, report),
            None if schemas.is_valid(resolved(schemas, method.payload)) => {
                let known = payload.properties.iter().map(|property| property.name.value.as_str());
                report.add(names::unknown_property(name, &known.collect::<Vec<_>>()));
                None
            }
            None => None,
        };
        let label = source.value.strip_prefix("label:").filter(|key| !key.is_empty());
        let label = label.map(|key| InjectionSource::Label(key.to_owned()));
        let known = SOURCES.iter().find(|(known, _)| *known == source.value);
        let found = known.map(|(_, source)| source.clone()).or(label);
        if found.is_none() && !source.value.is_empty() {
            let words = SOURCES.iter().map(|(word, _)| *word).chain(["label:KEY"]);
            report.add(names::unknown_source(source, &words.collect::<Vec<_>>()));
        }
        if let (Some(required), Some(source)) = (required, found) {
            injections.push(Injection { property: name.clone(), source, required });
        }
    }
    injections
}

/// Checks that an injected property is a string. Returns whether the payload requires it.
fn injected_string(
    name: &Spanned<String>,
    method: &Method,
    property: &Property,
    schemas: &Schemas,
    report: &mut Report,
) -> Option<bool> {
    let node = resolved(schemas, property.schema);
    if !schemas.is_valid(node) {
        return None;
    }
    if !matches!(schemas[node].shape, Shape::String(_)) {
        report.add(tools::inject_not_a_string(name, &method.name.value, property.name.span));
        return None;
    }
    if !property.required {
        report.add(tools::inject_optional(name, &method.name.value, property.name.span));
    }
    Some(property.required)
}

/// Creates arguments from the payload without the injected properties. The other properties keep their nodes.
fn derived(
    tool: &WrittenTool<'_>,
    payload: NodeId,
    object: &ObjectShape,
    inject: &[Injection],
    reading: &mut Reading<'_>,
    report: &mut Report,
) -> NodeId {
    // Assertions of the payload may involve injected properties.
    let ruled = aliased(&reading.schemas, payload).last().unwrap_or(payload);
    if let Some(assertion) = reading.schemas[ruled].assertions.first() {
        let span = reading.schemas[resolved(&reading.schemas, payload)].span;
        report.add(tools::args_not_derivable(tool.name.span, assertion.keyword.word(), span));
    }
    let is_injected = |property: &Property| {
        inject.iter().any(|injection| injection.property.value == property.name.value)
    };
    let kept = object.properties.iter().filter(|property| !is_injected(property));
    let object = ObjectShape { properties: kept.cloned().collect(), additional: object.additional };
    reading.schemas.add(Node::new(tool.name.span, Shape::Object(object)))
}

/// Returns whether two schemas are the same named type, or have the same text in files with the same setting for integers.
fn are_same(reading: &Reading<'_>, service: &str, a: &SchemaText, b: Option<&SchemaText>) -> bool {
    let Some(b) = b else { return false };
    match (a.0.to_json(), b.0.to_json()) {
        (Json::String(a), Json::String(b)) => {
            let a = reading.types.find(&a, service);
            a.is_some() && a == reading.types.find(&b, service)
        }
        (json_a, json_b) => {
            json_a == json_b
                && reading.has_exact_integers(a.0.span) == reading.has_exact_integers(b.0.span)
        }
    }
}
