//! How a tool stands on a method: what is injected, what is left for the model, what is reshaped.
//! Never tools without a method.

use super::Lowering;
use super::fitting::{Pair, Side};
use super::tools::Signature;
use super::toolsets::DeclaredTool;
use crate::diagnostic::{names, tools};
use crate::model::{ArgsShape, Binding, Injection, InjectionSource, MethodId, ServiceId};
use crate::schema::{Json, NodeId, ObjectShape, Shape, as_object, resolved};
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
        let size =
            as_object(&self.project.schemas, payload).map_or(0, |object| object.properties.len());
        if self.binds_too_much(size, tool.name.span) {
            let result = self.project[method].result;
            return Signature { args: payload, result, binding: None };
        }
        let Some(object) = as_object(&self.project.schemas, payload).cloned() else {
            // That the payload is no object, or wrong, has been reported where it stands.
            let span = tool.name.span;
            let args = args.map(|text| self.object_schema(owner, &text.0, "`args`"));
            let args = args.unwrap_or_else(|| self.unsound(span));
            let (result, _) = self.result(owner, method, result);
            return Signature { args, result, binding: None };
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
            self.report_unknown_property(name, method, payload);
            return None;
        };
        let node = resolved(&self.project.schemas, property.schema);
        let method = &self.project[method].name.value;
        if !self.project.schemas.is_sound(node) {
            return None;
        }
        if !matches!(self.project.schemas[node].shape, Shape::String(_)) {
            let declared = property.name.span;
            self.report.add(tools::inject_not_a_string(name, method, declared));
            return None;
        }
        if !property.required {
            self.report.add(tools::inject_optional(name, method, property.name.span));
        }
        Some(property.required)
    }

    fn report_unknown_property(
        &mut self,
        name: &Spanned<String>,
        method: MethodId,
        payload: &ObjectShape,
    ) {
        let node = resolved(&self.project.schemas, self.project[method].payload);
        if self.project.schemas.is_sound(node) {
            let known = payload.properties.iter().map(|property| property.name.value.as_str());
            self.report.add(names::unknown_property(name, &known.collect::<Vec<_>>()));
        }
    }

    fn injection_source(&mut self, word: &Spanned<String>) -> Option<InjectionSource> {
        let label = word.value.strip_prefix("label:").filter(|key| !key.is_empty());
        let label = label.map(|key| InjectionSource::Label(key.to_owned()));
        let known = SOURCES.iter().find(|(known, _)| *known == word.value);
        let source = known.map(|(_, source)| source.clone()).or(label);
        if source.is_none() && !word.value.is_empty() {
            let words = SOURCES.iter().map(|(word, _)| *word).chain(["label:KEY"]);
            self.report.add(names::unknown_source(word, &words.collect::<Vec<_>>()));
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
        let Some(object) = as_object(&self.project.schemas, args).cloned() else {
            return (args, ArgsShape::Declared);
        };
        self.check_not_in_args(&object, inject);
        if !same {
            let injected = inject.iter().map(|injection| injection.property.value.clone());
            let side = Side::Args { injected: injected.collect() };
            self.fittings.push(Pair { span: text.0.span, from: args, to: node, side });
        }
        (args, if same { ArgsShape::Same } else { ArgsShape::Declared })
    }

    /// What a payload's other keywords mean without the injected properties, nobody can say.
    fn check_derivable(&mut self, tool: &DeclaredTool<'a>, payload: NodeId) {
        let plain = resolved(&self.project.schemas, payload);
        let keyword = [payload, plain]
            .iter()
            .find_map(|&node| self.project.schemas[node].assertions.first())
            .map(|assertion| assertion.keyword);
        if let Some(keyword) = keyword {
            let payload = self.project.schemas[plain].span;
            self.report.add(tools::args_not_derivable(tool.name.span, keyword, payload));
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
                self.report.add(tools::injected_and_declared(name, property.name.span));
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
                let declared = self.schema(owner, &text.0);
                let span = text.0.span;
                self.fittings.push(Pair { span, from: node, to: declared, side: Side::Result });
                (declared, true)
            }
            _ => (node, false),
        }
    }

    /// Whether two schemas are one: the same type by name, or the same text.
    fn same(&self, owner: ServiceId, a: &SchemaText, b: Option<&SchemaText>) -> bool {
        let Some(b) = b else { return false };
        match (a.0.to_json(), b.0.to_json()) {
            (Json::String(a), Json::String(b)) => {
                let owner = &self.project[owner].name.value;
                let a = self.names.find(&a, owner);
                a.is_some() && a == self.names.find(&b, owner)
            }
            (a, b) => a == b,
        }
    }
}
