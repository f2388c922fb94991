//! Mistakes in JSON Schemas.

use super::{among, at, form, mistakes, repeated, times};
use crate::prose::{advice, keep_one};
use crate::source::{Span, Spanned};
use toolwright::issue::nearest;

mistakes! {
    /// A keyword that JSON Schema 2020-12 does not have.
    ///
    /// JSON Schema itself ignores unknown keywords, so `minlength` would check nothing. Here every keyword is honored or
    /// refused.
    Error "unknown-keyword" unknown_keyword(key: &Spanned<String>, known: &[&str], beside: &[&str]) {
        let advice = match key.value.as_str() {
            "definitions" => "since 2019-09 this is `$defs`".to_owned(),
            "dependencies" => "since 2019-09 these are `dependentRequired` and `dependentSchemas`".to_owned(),
            "nullable" => "write `type: [T, \"null\"]`".to_owned(),
            "additionalItems" => "since 2020-12 this is `items`, beside `prefixItems`".to_owned(),
            "discriminator" => "leave it out: the members of a `oneOf` are told apart by a required property with a \
                                different `const` in each"
                .to_owned(),
            word => match nearest(word, known.iter().copied()) {
                Some(near) if beside.contains(&near) => keep_one(near),
                Some(near) => format!("did you mean `{near}`?"),
                None => "leave it out; `toolwright schema` lists the keywords that are supported".to_owned(),
            },
        };
        at(key.span, format!("unknown keyword `{}`", key.value)).help(advice)
    }

    /// A keyword of JSON Schema is not supported.
    ///
    /// `$id`, `$dynamicRef`, `$dynamicAnchor`, `$recursiveRef` and `$vocabulary` involve schemas in other places, or change
    /// the meaning of other keywords. Name types and refer to them with `$ref`.
    Error "unsupported-keyword" unsupported_keyword(key: &Spanned<String>) {
        at(key.span, format!("`{}` is not supported", key.value))
    }

    /// A `type` has an empty list, or a list with the same type twice.
    ///
    /// `type` is one word or a list of different words.
    Error "bad-type-list" bad_type_list(span: Span) {
        at(span, "`type` is a list of different types, at least one")
    }

    /// The value of `type` is not a type.
    ///
    /// JSON has null, boolean, string, number, array and object; `integer` is a number without a fraction.
    Error "unknown-type-word" unknown_type_word(span: Span, word: &str, known: &[&str]) {
        at(span, format!("unknown type `{word}`")).help(advice(word, known.iter().copied(), "types"))
    }

    /// A schema declares another dialect.
    ///
    /// Schemas are read as JSON Schema 2020-12. Keywords changed their meaning between drafts, so another `$schema`
    /// is refused. `toolwright import` rewrites older drafts.
    Error "unsupported-dialect" unsupported_dialect(span: Span, dialect: &str) {
        at(span, "schemas are read as JSON Schema 2020-12 only")
            .help(format!("leave `$schema` out, or write {dialect}"))
    }

    /// A format is unknown, so it is not checked.
    ///
    /// The model sees it, but every string is accepted. The known formats are `date-time`, `date`, `time`, `duration`,
    /// `uuid`, `ipv4`, `ipv6`, `uri`, `email`, `hostname`, `regex` and `json-pointer`; for numbers `int8` to `int64`, `uint8`
    /// to `uint64` and `double`.
    Warning "unknown-format" unknown_format(span: Span, format: &str, known: impl Iterator<Item = &'static str>) {
        let finding = at(span, format!("the format `{format}` is unknown, so it is not checked"));
        match nearest(format, known) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding,
        }
    }

    /// A keyword does not apply to any value that `type` allows.
    ///
    /// `minLength` beside `type: integer` accepts everything, which is rarely intended.
    Warning "no-effect" no_effect(span: Span, keyword: &str, kinds: &str) {
        at(span, format!("`{keyword}` has no effect on `type: {kinds}`")).help("remove one of the two")
    }

    /// Checking the payloads of a tool may take too many steps.
    ///
    /// A payload whose check takes more than 20,000,000 steps is refused as too costly, even if it is valid. Rules that a
    /// Rust type cannot express are checked by a validator, which also has the rules of all types inside the type. If many
    /// nested types have such rules, the validators of all of them check the innermost value.
    Warning "costly-schema" costly_schema(span: Span, what: &str, price: usize, most: usize, costliest: Span) {
        let message =
            format!("each value in the {what} may be checked against {price} keywords, expected at most {most}");
        at(span, message)
            .also(costliest, "most of them are because of this")
            .help("use types (`properties`, choices with tags) instead of conditions and other choices, or split the tool")
    }

    /// An object has too many properties.
    ///
    /// It becomes a struct with a field for each property, and Rust's compiler fails on structs of some thousand fields.
    Error "too-many-properties" too_many_properties(span: Span, found: usize, most: usize) {
        at(span, format!("this object has {found} properties, expected at most {most}"))
            .help("use a map (`additionalProperties` with a schema), or split the object")
    }

    /// Types contain each other too deeply.
    ///
    /// To find out if a value may be sent to another thread, Rust's compiler looks into its type, into the types in that
    /// type, and so on. It gives up after 128 levels. Structs, enums, optional properties and `null` are a level each, a
    /// list is three and a map five.
    Error "too-many-levels" too_many_levels(span: Span, found: usize, most: usize) {
        at(span, format!("the types in this schema are {found} levels deep, expected at most {most}"))
            .help("nest fewer types: hold the id of an inner object instead of the object, or leave the inner ones as any value (`{}`)")
    }

    /// A regular expression cannot be used.
    ///
    /// Patterns are those of ECMA-262 with the `u` flag; other flags are written in groups, as in `(?i:yes|no)`. Nearly all
    /// patterns take time that is linear in the length of a text. For those that look around (`(?=`, `(?<!`) or refer to
    /// groups (`\1`) the number of steps is limited; a text that would take more is refused.
    Error "bad-pattern" bad_pattern(span: Span, reason: &str, help: Option<String>) {
        let finding = at(span, format!("this pattern cannot be used: {reason}"));
        match help {
            Some(help) => finding.help(help),
            None => finding,
        }
    }

    /// A pattern needs the tables of Unicode.
    ///
    /// `\p{L}`, and letters beyond ASCII if case is ignored, need tables that the feature `patterns` of `toolwright`
    /// provides. The manifests of generated crates enable it. A package whose build script compiles schemas has to enable it
    /// itself; the build script reports the first such pattern, unless `Build::has_patterns` says that it is enabled.
    Warning "needs-tables" needs_tables(span: Span) {
        at(span, "this pattern needs the feature `patterns` of `toolwright`, which provides the tables of Unicode")
            .help("enable it in the manifest of this package and call `has_patterns(true)` of `Build`, or list the \
                   characters in a class")
    }

    /// Limits exclude each other.
    ///
    /// No value could be accepted, so the tool could never be called.
    Error "empty-range" empty_range(span: Span, message: String) {
        at(span, message)
    }

    /// An `enum` contains the same value several times.
    ///
    /// Numbers are compared by value: `1` and `1.0` are equal.
    Error "repeated-value" repeated_value(places: Vec<Span>) {
        let message = format!("this value appears here {}", times(places.len()));
        among(repeated(places), message).help("keep one of them")
    }

    /// An `x-enum-names` does not give each integer of the `enum` beside it a different name.
    ///
    /// They are the names of the variants in Rust, in the order of the values. Variants of strings are named after the
    /// strings.
    Error "wrong-enum-names" wrong_enum_names(span: Span) {
        at(span, "`x-enum-names` needs an `enum` of integers beside it, and one different name for each of them")
    }

    /// An `enum` has no values.
    ///
    /// It accepts nothing, so the tool could never be called.
    Error "empty-enum" empty_enum(span: Span) {
        at(span, "an empty `enum` accepts nothing")
    }

    /// A value of `enum` or `const` is not of the `type` beside it.
    ///
    /// It could never be sent. YAML reads `1`, `true` and `null` without quotes as a number, a boolean and null; put strings
    /// in quotes.
    Error "wrong-type-for-value" wrong_type_for_value(span: Span, value: &str, types: Span) {
        at(span, format!("{value} is not of the `type` beside it")).also(types, "the type is this")
    }

    /// A required property is not allowed.
    ///
    /// With `additionalProperties: false` only the properties under `properties` are allowed, so no object would be accepted.
    Error "impossible-property" impossible_property(name: &Spanned<String>) {
        at(name.span, format!("`{}` is required, but no property of that name is allowed", name.value))
            .help("describe it under `properties`, or do not require it")
    }

    /// A reference into the same schema has no target.
    ///
    /// `#` is the schema itself, `#/$defs/X` a definition in it, `#name` the schema with that `$anchor`. A schema begins where
    /// the language expects one: at a type, a payload, arguments or a result.
    Error "unknown-reference" unknown_reference(span: Span, pointer: &str, known: &[&str]) {
        at(span, format!("there is no schema at `#{pointer}`"))
            .help(advice(&format!("#{pointer}"), known.iter().copied(), "definitions of this schema"))
    }

    /// Several parts of one schema have the same `$anchor`.
    ///
    /// JSON Schema does not define to which of them a reference leads (2020-12 core, 8.2.2).
    Error "repeated-anchor" repeated_anchor(name: &str, places: Vec<Span>) {
        among(repeated(places), format!("the `$anchor` `{name}` appears in this schema twice"))
            .help("give each schema a name of its own")
    }

    /// A reference leads out of the project.
    ///
    /// Nothing is ever fetched: otherwise the arguments of a tool could change although the project does not.
    Error "unsupported-reference" unsupported_reference(span: Span, message: String) {
        at(span, message)
    }

    /// A schema only consists of a reference to itself.
    ///
    /// Such a schema does not say which values it accepts. Recursion has to go through a property or an item.
    Error "endless-reference" endless_reference(span: Span) {
        at(span, "this schema refers to itself without an object or array in between")
    }

    /// A payload is not an object, or the arguments of a tool are not.
    ///
    /// Models send arguments by name. Put a single value, or a choice of several objects, under a property.
    Error "not-an-object" not_an_object(span: Span, what: &str, is_untyped: bool) {
        at(span, format!("{what} has to describe an object")).help(if is_untyped {
            "write `type: object` in it"
        } else {
            "put it under a property: `{ type: object, required: [value], properties: { value: … } }`"
        })
    }

    /// A schema refuses its own `default`, or one of its own `examples`.
    ///
    /// A model that follows it would be refused. Such a default is not filled in, so this is only a warning.
    Warning "default-breaks-schema" default_breaks_schema(span: Span, message: String) {
        at(span, message)
    }
}

/// Reports a boolean value of `required`, as in drafts before 4.
pub(crate) fn required_flag(span: Span) -> super::Diagnostic {
    form::wrong_kind(span, "a list of property names", "a boolean")
        .help("list the name beside `properties`: `required: [name]`")
}

/// Reports a reference to an unknown anchor.
pub(crate) fn unknown_anchor(span: Span, name: &str) -> super::Diagnostic {
    super::Diagnostic {
        message: format!("no schema has the `$anchor` `{name}`"),
        help: None,
        ..unknown_reference(span, "", &[])
    }
}

/// Reports a reference to a named type as if it were inside the same schema.
pub(crate) fn type_by_pointer(span: Span, pointer: &str, name: &str) -> super::Diagnostic {
    unknown_reference(span, pointer, &[]).help(format!("a type is named plainly: `$ref: {name}`"))
}

/// Reports a reference to a URL.
pub(crate) fn reference_elsewhere(span: Span, target: &str) -> super::Diagnostic {
    unsupported_reference(
        span,
        format!("the reference `{target}` leads out of the project, and nothing is fetched"),
    )
    .help("write the schema under `types` and refer to it by name")
}
