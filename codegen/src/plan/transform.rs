//! Conversions between the arguments and results of a tool and those of its method, where their types differ.

use super::Plans;
use super::roots::{LocatedType, RootType};
use super::shapes::type_of_text;
use crate::model::{ArgsShape, Binding, Injection, InjectionSource, MethodId, Tool, ToolId};
use crate::naming::{Identifier, TypeName, additional_field, identifier, identifier_with, pascal};
use crate::prose::code;
use crate::schema::{Additional, NodeId, ObjectShape, Property, Shape, as_object, resolved};

/// One function of `transforms.rs`.
#[derive(Debug)]
pub struct Transform {
    /// The tool's name.
    pub tool: String,
    /// The type that implements `toolwright::Tool`.
    pub marker: Identifier,
    /// The function's name.
    pub function: Identifier,
    /// The type of the tool's arguments or result.
    pub tool_type: RootType,
    /// The type of the method's payload or result.
    pub method_type: LocatedType,
    /// The body of the function.
    pub body: TransformBody,
}

/// The body of a conversion.
#[derive(Debug)]
pub enum TransformBody {
    /// Builds a payload field by field.
    Move(Move),
    /// Encodes the arguments as JSON, adds injected properties, and decodes the payload.
    Reshape(Vec<InjectedValue>),
    /// Encodes the method's result as JSON and decodes the tool's result.
    ReshapeResult,
}

/// A payload built field by field.
#[derive(Debug)]
pub struct Move {
    /// The fields taken from the arguments.
    pub fields: Vec<Identifier>,
    /// The injected fields.
    pub injected: Vec<InjectedValue>,
    /// The move of the additional properties.
    pub additional: Option<AdditionalMove>,
    /// The fields that the constructor of the payload takes, if a payload can only be made with it.
    pub constructor: Option<Vec<Identifier>>,
}

/// The fields for additional properties.
#[derive(Debug)]
pub struct AdditionalMove {
    /// The field of the payload.
    pub to: Identifier,
    /// The field of the arguments.
    pub from: Identifier,
}

/// A property of the payload with a value from the metadata of the call.
#[derive(Clone, Debug)]
pub struct InjectedValue {
    /// The property.
    pub property: String,
    /// The field of the property.
    pub field: Identifier,
    /// The name of the metadata in messages, such as `session id`.
    pub source: String,
    /// The method of `ToolCall` that returns the value.
    pub getter: Getter,
    /// Set if the payload requires the property.
    pub required: bool,
    /// The path of the newtype around the string, if there is one.
    pub wrapper: Option<String>,
}

/// A method of `ToolCall`.
#[derive(Clone, Debug)]
pub enum Getter {
    /// `id`, which always returns a value.
    Id,
    /// A method with this name, which returns an optional value.
    Scope(&'static str),
    /// `label` with this key.
    Label(String),
}

impl Plans<'_> {
    pub(super) fn transforms(&self, id: ToolId) -> Vec<Transform> {
        let tool = &self.project[id];
        let Some(binding) = &tool.binding else { return Vec::new() };
        let args = (binding.args != ArgsShape::Same).then(|| self.payload_transform(tool, binding));
        let result = binding.reshapes_result.then(|| self.result_transform(tool, binding.method));
        args.into_iter().chain(result).collect()
    }

    fn payload_transform(&self, tool: &Tool, binding: &Binding) -> Transform {
        let name = tool.name.value.clone();
        let payload = self.project[binding.method].payload;
        let injected: Option<Vec<_>> =
            binding.inject.iter().map(|injection| self.injected(injection, payload)).collect();
        let moved = (binding.args == ArgsShape::Derived)
            .then(|| self.field_moves(tool.args, payload, injected?))
            .flatten();
        let body = match moved {
            Some(moved) => TransformBody::Move(moved),
            None => TransformBody::Reshape(binding.inject.iter().map(injected_value).collect()),
        };
        Transform {
            marker: pascal(&name),
            function: payload_function(&name),
            tool_type: self.root_type(tool.args),
            method_type: self.located_type(payload, None),
            body,
            tool: name,
        }
    }

    fn result_transform(&self, tool: &Tool, method: MethodId) -> Transform {
        let name = tool.name.value.clone();
        Transform {
            marker: pascal(&name),
            function: result_function(&name),
            tool_type: self.root_type(tool.result),
            method_type: self.located_type(self.project[method].result, None),
            body: TransformBody::ReshapeResult,
            tool: name,
        }
    }

    fn field_moves(
        &self,
        args: NodeId,
        payload: NodeId,
        injected: Vec<InjectedValue>,
    ) -> Option<Move> {
        let schemas = &self.project.schemas;
        let [args_node, payload_node] = [args, payload].map(|node| resolved(schemas, node));
        let (args, payload) = (as_object(schemas, args)?, as_object(schemas, payload)?);
        // If only one of the two types fills in a default or holds a box, the fields differ in type.
        let is_same = |property: &Property| {
            let of = |node| self.defaults.get(node, property).is_some();
            let owners = [args_node, payload_node];
            of(args_node) == of(payload_node)
                && self.boxes.agree(schemas, self.names, owners, property.schema)
        };
        if !args.properties.iter().all(is_same) {
            return None;
        }
        let is_injected = |key: &str| injected.iter().any(|value| value.property == key);
        let keys = payload.fields(schemas).map(|property| property.name.value.as_str());
        let fields = keys.filter(|key| !is_injected(key)).map(identifier).collect();
        let required = payload.fields(schemas).filter(|property| property.required);
        let constructor = self
            .options
            .non_exhaustive
            .then(|| required.map(|property| identifier(&property.name.value)).collect());
        let additional = (payload.additional != Additional::Closed).then(|| AdditionalMove {
            to: additional_field_of(payload),
            from: additional_field_of(args),
        });
        Some(Move { fields, injected, additional, constructor })
    }

    /// Plans an injected value for a field; returns `None` if the field is not a `String` or a newtype of one.
    fn injected(&self, injection: &Injection, payload: NodeId) -> Option<InjectedValue> {
        let schemas = &self.project.schemas;
        let object = as_object(schemas, payload)?;
        let key = &injection.property.value;
        let property = object.properties.iter().find(|property| property.name.value == *key)?;
        let has_default = self.defaults.get(resolved(schemas, payload), property).is_some();
        let (newtypes, value) = self.newtypes(property.schema);
        let is_domain = self.type_options.domain(value).is_some();
        let is_text = match &schemas[value].shape {
            Shape::String(rules) => type_of_text(rules).is_none(),
            _ => false,
        };
        if has_default || is_domain || !is_text || newtypes.len() > 1 {
            return None;
        }
        let path = |name: &&TypeName| format!("{}::{}", self.types_path(name.scope), name.name);
        Some(InjectedValue { wrapper: newtypes.first().map(path), ..injected_value(injection) })
    }
}

fn additional_field_of(object: &ObjectShape) -> Identifier {
    additional_field(object.properties.iter().map(|property| property.name.value.as_str()))
}

pub(super) fn payload_function(tool: &str) -> Identifier {
    identifier_with(tool, "payload")
}

pub(super) fn result_function(tool: &str) -> Identifier {
    identifier_with(tool, "result")
}

fn injected_value(injection: &Injection) -> InjectedValue {
    let (source, getter) = match &injection.source {
        InjectionSource::RunId => ("run id".to_owned(), Getter::Scope("run_id")),
        InjectionSource::SessionId => ("session id".to_owned(), Getter::Scope("session_id")),
        InjectionSource::TurnId => ("turn id".to_owned(), Getter::Scope("turn_id")),
        InjectionSource::CallId => ("own id".to_owned(), Getter::Id),
        InjectionSource::ParentCallId => {
            ("parent call id".to_owned(), Getter::Scope("parent_call_id"))
        }
        InjectionSource::Label(key) => (format!("label {}", code(key)), Getter::Label(key.clone())),
    };
    InjectedValue {
        property: injection.property.value.clone(),
        field: identifier(&injection.property.value),
        source,
        getter,
        required: injection.required,
        wrapper: None,
    }
}
