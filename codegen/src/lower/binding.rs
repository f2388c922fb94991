//! How a tool stands on a method: what is injected, what is left for the model, what is reshaped.
//! Never tools without a method.

use super::Lowering;
use super::tools::Signature;
use super::toolsets::DeclaredTool;
use crate::diagnostic::Diagnostic;
use crate::model::{ArgsShape, Binding, Injection, InjectionSource, MethodId, ServiceId};
use crate::schema::{Additional, Json, NodeId, ObjectShape, Shape, as_object, resolved};
use crate::source::{Span, Spanned};
use crate::syntax::{Entries, SchemaText};

/// Words for where an injected value comes from; `label:KEY` beside them.
const SOURCES: [(&str, InjectionSource); 5] = [
    ("run_id", InjectionSource::RunId),
    ("session_id", InjectionSource::SessionId),
    ("turn_id", InjectionSource::TurnId),
    ("call_id", InjectionSource::CallId),
    ("parent_call_id", InjectionSource::ParentCallId),
];

impl<'a> Lowering<'a> {
    /// The signature of a tool that is bound to a method.
    pub(super) fn bound(
        &mut self,
        owner: ServiceId,
        tool: &DeclaredTool<'a>,
        method: MethodId,
        args: Option<&SchemaText>,
        result: Option<&SchemaText>,
    ) -> Signature {
        let payload = self.project[method].payload;
        let size = as_object(&self.project, payload).map_or(0, |object| object.properties.len());
        if self.binds_too_much(size, tool.name.span) {
            let result = self.project[method].result;
            return Signature { args: payload, result, binding: None };
        }
        let Some(object) = as_object(&self.project, payload).cloned() else {
            // That the payload is no object has been reported where it stands.
            let result = self.project[method].result;
            return Signature { args: payload, result, binding: None };
        };
        let inject = self.injections(tool, method, &object);
        let (args, shape) = self.args(owner, tool, method, args, &object, &inject);
        let (result, reshapes_result) = self.result(owner, method, result);
        let binding = Some(Binding { method, args: shape, reshapes_result, inject });
        Signature { args, result, binding }
    }

    fn injections(
        &mut self,
        tool: &DeclaredTool<'a>,
        method: MethodId,
        payload: &ObjectShape,
    ) -> Vec<Injection> {
        let mut injections = Vec::new();
        for (property, source) in tool.details.inject.iter().flat_map(Entries::iter) {
            let required = self.injected_property(property, method, payload);
            if let (Some(required), Some(source)) = (required, self.injection_source(source)) {
                injections.push(Injection { property: property.clone(), source, required });
            }
        }
        injections
    }

    /// Whether the payload requires an injected property, which has to be a string.
    fn injected_property(
        &mut self,
        name: &Spanned<String>,
        method: MethodId,
        payload: &ObjectShape,
    ) -> Option<bool> {
        let found = payload.properties.iter().find(|property| property.name.value == name.value);
        let Some(property) = found else {
            let known = payload.properties.iter().map(|property| property.name.value.as_str());
            self.unknown("unknown-property", "property of the payload", name, known);
            return None;
        };
        let shape = &self.project.schemas[resolved(&self.project, property.schema)].shape;
        if !matches!(shape, Shape::String(_)) {
            let method = &self.project[method].name.value;
            let message = format!("`{}` of the payload of `{method}` is not a string", name.value);
            let finding = Diagnostic::error("inject-not-a-string", name.span, message)
                .also(property.name.span, "declared here");
            self.report.add(finding);
            return None;
        }
        Some(property.required)
    }

    fn injection_source(&mut self, word: &Spanned<String>) -> Option<InjectionSource> {
        let label = word.value.strip_prefix("label:").filter(|key| !key.is_empty());
        let label = label.map(|key| InjectionSource::Label(key.to_owned()));
        let known = SOURCES.iter().find(|(known, _)| *known == word.value);
        let source = known.map(|(_, source)| source.clone()).or(label);
        if source.is_none() {
            let words = SOURCES.iter().map(|(word, _)| *word).chain(["label:KEY"]);
            self.unknown("unknown-source", "source", word, words);
        }
        source
    }

    fn args(
        &mut self,
        owner: ServiceId,
        tool: &DeclaredTool<'a>,
        method: MethodId,
        text: Option<&SchemaText>,
        payload: &ObjectShape,
        inject: &[Injection],
    ) -> (NodeId, ArgsShape) {
        let node = self.project[method].payload;
        let Some(text) = text else {
            if inject.is_empty() {
                return (node, ArgsShape::Same);
            }
            self.check_derivable(tool, node);
            return (self.derived(tool.name.span, payload, inject), ArgsShape::Derived);
        };
        let payload_text = self.method_text(method).payload.as_ref();
        let same = self.same(owner, text, payload_text);
        let args = if same { node } else { self.object_schema(owner, &text.0, "`args`") };
        let Some(object) = as_object(&self.project, args).cloned() else {
            return (args, ArgsShape::Declared);
        };
        self.check_not_in_args(&object, inject);
        if !same {
            self.check_covers(text.0.span, &object, payload, inject);
        }
        (args, if same { ArgsShape::Same } else { ArgsShape::Declared })
    }

    /// What a payload's other keywords mean without the injected properties, nobody can say.
    fn check_derivable(&mut self, tool: &DeclaredTool<'a>, payload: NodeId) {
        let plain = resolved(&self.project, payload);
        let keyword = [payload, plain]
            .iter()
            .find_map(|&node| self.project.schemas[node].assertions.first())
            .map(|assertion| assertion.keyword);
        if let Some(keyword) = keyword {
            let message = format!(
                "`args` cannot be left out: the payload has `{keyword}`, which may be about injected properties"
            );
            let finding = Diagnostic::error("args-not-derivable", tool.name.span, message)
                .also(self.project.schemas[plain].span, "the payload")
                .help("write `args`");
            self.report.add(finding);
        }
    }

    /// The payload less what is injected, with its own properties' nodes.
    fn derived(&mut self, span: Span, payload: &ObjectShape, inject: &[Injection]) -> NodeId {
        let kept = payload.properties.iter().filter(|property| {
            !inject.iter().any(|injection| injection.property.value == property.name.value)
        });
        let properties = kept.cloned().collect();
        let object = ObjectShape { properties, additional: payload.additional };
        self.plain(span, Shape::Object(object))
    }

    fn check_not_in_args(&mut self, args: &ObjectShape, inject: &[Injection]) {
        for injection in inject {
            let name = &injection.property;
            let found = args.properties.iter().find(|property| property.name.value == name.value);
            if let Some(property) = found {
                let message =
                    format!("`{}` is injected, so it cannot be in `args` too", name.value);
                let finding = Diagnostic::error("injected-and-declared", name.span, message)
                    .also(property.name.span, "in `args` here")
                    .help(
                        "remove it from one of the two; left out, `args` follow from the payload",
                    );
                self.report.add(finding);
            }
        }
    }

    /// Declared args and what is injected make up the payload.
    fn check_covers(
        &mut self,
        span: Span,
        args: &ObjectShape,
        payload: &ObjectShape,
        inject: &[Injection],
    ) {
        for property in payload.properties.iter().filter(|property| property.required) {
            let name = &property.name.value;
            let injected = inject.iter().any(|injection| injection.property.value == *name);
            let declared =
                args.properties.iter().any(|arg| arg.required && arg.name.value == *name);
            if !injected && !declared {
                let message = format!("the payload requires `{name}`, but nothing fills it in");
                let finding = Diagnostic::error("payload-not-filled", span, message)
                    .also(property.name.span, "declared here")
                    .help(format!("make `{name}` a required property of `args`, or inject it"));
                self.report.add(finding);
            }
        }
        if payload.additional != Additional::Closed {
            return;
        }
        for arg in &args.properties {
            let name = &arg.name;
            if !payload.properties.iter().any(|property| property.name.value == name.value) {
                let message = format!("the method's payload has no `{}`", name.value);
                self.error("not-in-payload", name.span, message);
            }
        }
    }

    fn result(
        &mut self,
        owner: ServiceId,
        method: MethodId,
        text: Option<&SchemaText>,
    ) -> (NodeId, bool) {
        let node = self.project[method].result;
        let method_text = self.method_text(method).result.as_ref();
        match text {
            Some(text) if !self.same(owner, text, method_text) => {
                (self.schema(owner, &text.0), true)
            }
            _ => (node, false),
        }
    }

    /// Whether two schemas are one: the same type by name, or the same text.
    fn same(&self, owner: ServiceId, a: &SchemaText, b: Option<&SchemaText>) -> bool {
        let Some(b) = b else { return false };
        match (a.0.to_json(), b.0.to_json()) {
            (Json::String(a), Json::String(b)) => {
                let a = self.names.find(&a, owner);
                a.is_some() && a == self.names.find(&b, owner)
            }
            (a, b) => a == b,
        }
    }
}
