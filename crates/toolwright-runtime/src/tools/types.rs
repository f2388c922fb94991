//! The argument and result types of functions that run tools, with their codecs and schemas.

use std::sync::Arc;

use toolwright::codec;
use toolwright::schema::{Schema, SchemaError};
use toolwright::{BoxError, Described, InvalidPayload, Payload};

pub(super) type Read<T> = Arc<dyn Fn(&[u8]) -> Result<T, InvalidPayload> + Send + Sync>;
pub(super) type Write<T> = Arc<dyn Fn(&T) -> Result<Payload, InvalidPayload> + Send + Sync>;

/// A type of arguments of a function that runs a tool; see [`ToolFunction`](super::ToolFunction).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a tool",
    note = "expected a type with a schema: declared by `described!`, or, with the feature `schemars`, one that derives `Deserialize` and `JsonSchema`"
)]
pub trait ToolArgs<Kind>: Sized + Send + 'static {
    /// Returns the codec of the arguments.
    ///
    /// # Errors
    ///
    /// The schema of the type cannot be used.
    fn codec() -> Result<ArgsCodec<Self>, SchemaError>;
}

/// A return type of a function that runs a tool; see [`ToolFunction`](super::ToolFunction).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    note = "expected a type with a codec, `Json` of a type that derives `Serialize` and `JsonSchema`, or a `Result` of either with an error"
)]
pub trait ToolOutput<Kind>: Send + 'static {
    /// The type of a successful result.
    type Result: Send + 'static;

    /// Returns the codec of the result.
    ///
    /// # Errors
    ///
    /// The schema of the type cannot be used.
    fn codec() -> Result<ResultCodec<Self::Result>, SchemaError>;

    /// Converts it into a `Result`.
    ///
    /// # Errors
    ///
    /// The error that the function returned.
    fn into_result(self) -> Result<Self::Result, BoxError>;
}

/// The schema of arguments, and the function that decodes them.
pub struct ArgsCodec<A> {
    pub(super) schema: String,
    pub(super) read: Read<A>,
}

/// The schema of results, and the functions that check and encode them.
pub struct ResultCodec<R> {
    pub(super) schema: String,
    pub(super) check: Read<()>,
    pub(super) write: Write<R>,
}

crate::debug::debug!(ArgsCodec<A>, codec => { schema: codec.schema });
crate::debug::debug!(ResultCodec<R>, codec => { schema: codec.schema });

/// The `Kind` of types that implement [`Described`]; see [`ToolFunction`](super::ToolFunction).
#[derive(Debug)]
pub struct OwnCodec;

impl ArgsCodec<()> {
    /// The codec of a function without arguments, which accepts an object without properties.
    pub(super) fn none() -> Self {
        toolwright::described! { struct Nothing {} }
        let schema = Nothing::schema().to_string();
        Self { schema, read: Arc::new(codec::check::<Nothing>) }
    }
}

impl ArgsCodec<()> {
    /// The codec of arguments that have a schema and no type.
    pub(super) fn of_schema(text: &str) -> Result<Self, SchemaError> {
        let schema = Schema::new(text)?;
        Ok(Self { schema: text.to_owned(), read: Arc::new(move |json| schema.check(json)) })
    }
}

impl ResultCodec<Payload> {
    /// The codec of results that have a schema and no type.
    pub(super) fn of_schema(text: &str) -> Result<Self, SchemaError> {
        let schema = Arc::new(Schema::new(text)?);
        let of_check = Arc::clone(&schema);
        Ok(Self {
            schema: text.to_owned(),
            check: Arc::new(move |json| of_check.check(json)),
            write: Arc::new(move |result| {
                schema.check(result.as_bytes())?;
                Ok(result.clone())
            }),
        })
    }
}

impl<A: Described + Send + 'static> ToolArgs<OwnCodec> for A {
    fn codec() -> Result<ArgsCodec<Self>, SchemaError> {
        Ok(ArgsCodec { schema: A::schema().to_string(), read: Arc::new(codec::from_json) })
    }
}

impl<R: Described + 'static> ResultCodec<R> {
    fn own() -> Self {
        Self {
            schema: R::schema().to_string(),
            check: Arc::new(codec::check::<R>),
            write: Arc::new(Payload::of),
        }
    }
}

impl<R: Described + Send + 'static> ToolOutput<OwnCodec> for R {
    type Result = R;

    fn codec() -> Result<ResultCodec<R>, SchemaError> {
        Ok(ResultCodec::own())
    }

    fn into_result(self) -> Result<R, BoxError> {
        Ok(self)
    }
}

impl<R, E> ToolOutput<Result<OwnCodec, E>> for Result<R, E>
where
    R: Described + Send + 'static,
    E: Into<BoxError> + Send + 'static,
{
    type Result = R;

    fn codec() -> Result<ResultCodec<R>, SchemaError> {
        Ok(ResultCodec::own())
    }

    fn into_result(self) -> Result<R, BoxError> {
        self.map_err(Into::into)
    }
}

/// Wraps the result of a function whose type derives `Serialize` and `JsonSchema`.
#[cfg(feature = "schemars")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Json<T>(pub T);

/// Wraps a type that holds all arguments of a `#[tool]` function: `Parameters(Numbers { a, b }): Parameters<Numbers>`.
#[cfg(feature = "macros")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parameters<T>(pub T);

/// The codecs of types that derive serde's and schemars's traits. A value that is valid under the schema can still be refused
/// by serde; then the error has serde's message.
#[cfg(feature = "schemars")]
mod by_serde {
    use std::sync::Arc;

    use schemars::generate::SchemaSettings;
    use schemars::transform::RecursiveTransform;
    use schemars::{JsonSchema, SchemaGenerator};
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use toolwright::issue::{Issue, IssueKind};
    use toolwright::schema::{Schema, SchemaError};
    use toolwright::value::Number;
    use toolwright::{BoxError, InvalidPayload, Payload, Value, codec};

    use super::{ArgsCodec, Json, ResultCodec, ToolArgs, ToolOutput};

    /// The `Kind` of types that use serde and schemars; see [`ToolFunction`](crate::tools::ToolFunction).
    #[derive(Debug)]
    pub struct BySerde;

    fn refused(error: &serde_json::Error) -> InvalidPayload {
        let reason = format!("is not valid for its type: {error}");
        InvalidPayload::new(vec![Issue::new("", IssueKind::Refused { reason })])
    }

    /// Returns the text of a type's schema, and the compiled schema.
    fn compiled<T: JsonSchema>(
        settings: SchemaSettings,
    ) -> Result<(String, Arc<Schema>), SchemaError> {
        let settings = settings.with(|settings| settings.meta_schema = None);
        let settings = settings.with_transform(RecursiveTransform(bound_floats));
        let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>();
        // The name of a Rust type does not help a model.
        schema.remove("title");
        let text = schema.as_value().to_string();
        let compiled = Schema::new(&text)?;
        Ok((text, Arc::new(compiled)))
    }

    /// Adds the bounds of `f32`, as serde would decode larger numbers as infinite.
    fn bound_floats(schema: &mut schemars::Schema) {
        if schema.get("format").is_some_and(|format| format == "float") {
            for (keyword, end) in [("minimum", f32::MIN), ("maximum", f32::MAX)] {
                if schema.get(keyword).is_none() {
                    schema.insert(keyword.to_owned(), f64::from(end).into());
                }
            }
        }
    }

    /// Decodes JSON. JSON Schema allows integers such as `1.0` and `1e2`, and serde refuses them. So if serde refuses the JSON,
    /// it is decoded again with integers as plain digits.
    fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T, InvalidPayload> {
        serde_json::from_slice(json).or_else(|error| {
            let plain = codec::from_json::<Value>(json).map(with_plain_integers)?.to_string();
            serde_json::from_str(&plain).map_err(|_| refused(&error))
        })
    }

    fn with_plain_integers(value: Value) -> Value {
        match value {
            Value::Number(number) => {
                let integer = number.as_i64().map(Number::from);
                let integer = integer.or_else(|| number.as_u64().map(Number::from));
                Value::Number(integer.unwrap_or(number))
            }
            Value::Array(items) => {
                Value::Array(items.into_iter().map(with_plain_integers).collect())
            }
            Value::Object(entries) => {
                let entries = entries.into_iter();
                let entries = entries.map(|(key, entry)| (key, with_plain_integers(entry)));
                Value::Object(entries.collect())
            }
            other => other,
        }
    }

    impl<A: DeserializeOwned + JsonSchema + Send + 'static> ToolArgs<BySerde> for A {
        fn codec() -> Result<ArgsCodec<Self>, SchemaError> {
            let (text, schema) = compiled::<A>(SchemaSettings::draft2020_12().for_deserialize())?;
            let read = Arc::new(move |json: &[u8]| {
                schema.check(json)?;
                read(json)
            });
            Ok(ArgsCodec { schema: text, read })
        }
    }

    impl<R: Serialize + JsonSchema + 'static> ResultCodec<Json<R>> {
        fn by_serde() -> Result<Self, SchemaError> {
            let (text, schema) = compiled::<R>(SchemaSettings::draft2020_12().for_serialize())?;
            let of_check = Arc::clone(&schema);
            Ok(Self {
                schema: text,
                check: Arc::new(move |json| of_check.check(json)),
                write: Arc::new(move |Json(result)| {
                    let json = serde_json::to_string(result).map_err(|error| refused(&error))?;
                    schema.check(json.as_bytes())?;
                    Ok(Payload::new(json))
                }),
            })
        }
    }

    impl<R: Serialize + JsonSchema + Send + 'static> ToolOutput<BySerde> for Json<R> {
        type Result = Self;

        fn codec() -> Result<ResultCodec<Self>, SchemaError> {
            ResultCodec::by_serde()
        }

        fn into_result(self) -> Result<Self, BoxError> {
            Ok(self)
        }
    }

    impl<R, E> ToolOutput<Result<BySerde, E>> for Result<Json<R>, E>
    where
        R: Serialize + JsonSchema + Send + 'static,
        E: Into<BoxError> + Send + 'static,
    {
        type Result = Json<R>;

        fn codec() -> Result<ResultCodec<Json<R>>, SchemaError> {
            ResultCodec::by_serde()
        }

        fn into_result(self) -> Result<Json<R>, BoxError> {
            self.map_err(Into::into)
        }
    }
}
