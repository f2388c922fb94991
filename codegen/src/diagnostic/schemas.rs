//! Mistakes inside JSON Schemas. Never about what a schema is used for.

use super::{among, at, form, given, mistakes, times};
use crate::prose::{advice, is_there_already};
use crate::source::{Span, Spanned};
use toolwright::issue::nearest;

mistakes! {
    /// A keyword that JSON Schema 2020-12 does not have.
    ///
    /// JSON Schema itself ignores unknown keywords, so `minlength` would check nothing. Here every keyword is
    /// honoured or refused.
    Error "unknown-keyword" unknown_keyword(key: &Spanned<String>, known: &[&str], beside: &[&str]) {
        let advice = match key.value.as_str() {
            "definitions" => "since 2019-09 this is `$defs`".to_owned(),
            "dependencies" => "since 2019-09 these are `dependentRequired` and `dependentSchemas`".to_owned(),
            "nullable" => "write `type: [T, \"null\"]`".to_owned(),
            "additionalItems" => "since 2020-12 this is `items`, beside `prefixItems`".to_owned(),
            "discriminator" => "leave it out: the members of a `oneOf` are told apart by a required property that has \
                                another `const` in each"
                .to_owned(),
            word => match nearest(word, known.iter().copied()) {
                Some(near) if beside.contains(&near) => is_there_already(near),
                Some(near) => format!("did you mean `{near}`?"),
                None => "leave it out; `toolwright schema` lists the keywords that are supported".to_owned(),
            },
        };
        at(key.span, format!("unknown keyword `{}`", key.value)).help(advice)
    }

    /// A keyword of JSON Schema that is not honoured.
    ///
    /// `$id`, `$dynamicRef`, `$dynamicAnchor`, `$recursiveRef` and `$vocabulary` are about schemas that lie elsewhere,
    /// or change what others mean. Name types and refer to them with `$ref`.
    Error "unsupported-keyword" unsupported_keyword(key: &Spanned<String>) {
        at(key.span, format!("`{}` is not supported", key.value))
    }

    /// A `type` that lists nothing, or one type twice.
    ///
    /// `type` is one word or a list of different words.
    Error "bad-type-list" bad_type_list(span: Span) {
        at(span, "`type` is a list of different types, at least one")
    }

    /// A word behind `type` that is no type.
    ///
    /// JSON has null, boolean, string, number, array and object; `integer` is a number without a fraction.
    Error "unknown-type-word" unknown_type_word(span: Span, word: &str, known: &[&str]) {
        at(span, format!("unknown type `{word}`")).help(advice(word, known.iter().copied(), "types"))
    }

    /// A schema that says it is written in another dialect.
    ///
    /// Schemas are read as JSON Schema 2020-12. Keywords changed their meaning between drafts, so another `$schema`
    /// is refused. `toolwright import` rewrites older drafts.
    Error "unsupported-dialect" unsupported_dialect(span: Span, dialect: &str) {
        at(span, "schemas are read as JSON Schema 2020-12 only")
            .help(format!("leave `$schema` out, or write {dialect}"))
    }

    /// A format that nothing checks.
    ///
    /// The model is told of it, and any string is accepted. Checked are `date-time`, `date`, `time`, `duration`, `uuid`,
    /// `ipv4`, `ipv6`, `uri`, `email`, `hostname`, `regex` and `json-pointer`; of numbers `int8` to `int64`, `uint8` to `uint64`
    /// and `double`.
    Warning "unknown-format" unknown_format(span: Span, format: &str, known: impl Iterator<Item = &'static str>) {
        let finding = at(span, format!("the format `{format}` is not known, so nothing checks it"));
        match nearest(format, known) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding,
        }
    }

    /// A keyword about other kinds of values than `type` allows.
    ///
    /// `minLength` beside `type: integer` accepts everything, which is seldom what was meant.
    Warning "no-effect" no_effect(span: Span, keyword: &str, kinds: &str) {
        at(span, format!("`{keyword}` has no effect on `type: {kinds}`")).help("remove one of the two")
    }

    /// Payloads of a tool may take so many steps to check that small ones are refused.
    ///
    /// A payload has 20,000,000 steps, and one that takes more is refused as too costly, whatever it says. What no type can
    /// say, a validator checks, which holds the rules of all types inside its own: where many nested types each have
    /// such rules, every one of them checks the innermost value.
    Warning "costly-schema" costly_schema(span: Span, what: &str, price: usize, most: usize, costliest: Span) {
        let message =
            format!("each value in the {what} may be held against {price} keywords, expected at most {most}");
        at(span, message)
            .also(costliest, "against most of them for this")
            .help("say by types (`properties`, tags of choices) what conditions and choices say, or split the tool")
    }

    /// A regular expression that cannot be used.
    ///
    /// Patterns are those of ECMA-262 with the `u` flag; other flags stand in groups, as in `(?i:yes|no)`. Nearly all
    /// take time that is linear in the length of a text. Those that look around (`(?=`, `(?<!`) or refer to groups (`\1`)
    /// may take a number of steps for each text, and a text that would take more is refused.
    Error "bad-pattern" bad_pattern(span: Span, reason: &str, help: Option<String>) {
        let finding = at(span, format!("this pattern cannot be used: {reason}"));
        match help {
            Some(help) => finding.help(help),
            None => finding,
        }
    }

    /// A pattern that needs the tables of Unicode.
    ///
    /// `\p{L}`, and letters beyond ASCII regardless of case, are read with tables that are behind the feature `patterns` of
    /// `toolwright`. The manifests of generated crates turn it on. A package whose build script compiles schemas has to do
    /// so itself; the build script reports the first such pattern, unless `Build::has_patterns` says that it is on.
    Warning "needs-tables" needs_tables(span: Span) {
        at(span, "this pattern needs the feature `patterns` of `toolwright`, which has the tables of Unicode")
            .help("turn it on in the manifest of this package and call `has_patterns(true)` of `Build`, or list the \
                   characters in a class")
    }

    /// Limits that leave nothing between them.
    ///
    /// No value could be accepted, so the tool could never be called.
    Error "empty-range" empty_range(span: Span, message: String) {
        at(span, message)
    }

    /// An `enum` has the same value several times.
    ///
    /// Numbers are equal by value: `1` and `1.0` are one.
    Error "repeated-value" repeated_value(places: Vec<Span>) {
        let message = format!("this value stands here {}", times(places.len()));
        among(given(places), message).help("keep one of them")
    }

    /// An `x-enum-names` that does not give each integer of the `enum` beside it a name of its own.
    ///
    /// The names are those of the variants in Rust, in the order of the values. Strings are named by themselves.
    Error "wrong-enum-names" wrong_enum_names(span: Span) {
        at(span, "`x-enum-names` stands beside an `enum` of integers and has as many names, all different")
    }

    /// An `enum` without values.
    ///
    /// It accepts nothing, so the tool could never be called.
    Error "empty-enum" empty_enum(span: Span) {
        at(span, "an empty `enum` accepts nothing")
    }

    /// A value of `enum` or `const` that the `type` beside it refuses.
    ///
    /// It could never be sent. YAML reads bare `1`, `true` and `null` as what they look like; put strings in quotes.
    Error "wrong-type-for-value" wrong_type_for_value(span: Span, value: &str, types: Span) {
        at(span, format!("{value} is not of the `type` beside it")).also(types, "the type is this")
    }

    /// A required property that is not allowed.
    ///
    /// With `additionalProperties: false` only what `properties` describes may be there, so no object could be accepted.
    Error "impossible-property" impossible_property(name: &Spanned<String>) {
        at(name.span, format!("`{}` is required, but no property of that name is allowed", name.value))
            .help("describe it under `properties`, or do not require it")
    }

    /// A reference into the same schema that leads nowhere.
    ///
    /// `#` is the schema itself, `#/$defs/X` a definition in it, `#name` what has that `$anchor`. A schema begins where the
    /// language expects one: at a type, a payload, arguments or a result.
    Error "unknown-reference" unknown_reference(span: Span, pointer: &str, known: &[&str]) {
        at(span, format!("no schema stands at `#{pointer}`"))
            .help(advice(&format!("#{pointer}"), known.iter().copied(), "definitions of this schema"))
    }

    /// A reference that leads out of the project.
    ///
    /// Nothing is ever fetched: what a tool takes would otherwise change without the project changing.
    Error "unsupported-reference" unsupported_reference(span: Span, message: String) {
        at(span, message)
    }

    /// A schema that is nothing but a reference to itself.
    ///
    /// A value is accepted if it is accepted: that decides nothing. Recursion goes through a property or an item.
    Error "endless-reference" endless_reference(span: Span) {
        at(span, "this schema refers to itself without an object or array between")
    }

    /// A payload, or the arguments of a tool, that are no object.
    ///
    /// Models send arguments by name. Put a single value, or a choice of several objects, under a property.
    Error "not-an-object" not_an_object(span: Span, what: &str, is_untyped: bool) {
        at(span, format!("{what} has to describe an object")).help(if is_untyped {
            "write `type: object` in it"
        } else {
            "put it under a property: `{ type: object, required: [value], properties: { value: … } }`"
        })
    }

    /// A `default`, or one of the `examples` in a schema, that the schema refuses.
    ///
    /// The model is told of it and would be refused for following it. Such a default is not filled in, so this
    /// is no error.
    Warning "default-breaks-schema" default_breaks_schema(span: Span, message: String) {
        at(span, message)
    }
}

/// A boolean behind `required`, as in drafts before 4.
pub(crate) fn required_flag(span: Span) -> super::Diagnostic {
    form::wrong_kind(span, "a list of property names", "a boolean")
        .help("list the name beside `properties`: `required: [name]`")
}

/// A reference to an anchor that nothing has.
pub(crate) fn unknown_anchor(span: Span, name: &str) -> super::Diagnostic {
    super::Diagnostic {
        message: format!("no schema has the `$anchor` `{name}`"),
        help: None,
        ..unknown_reference(span, "", &[])
    }
}

/// A reference to a type as if it stood at a place in the same schema.
pub(crate) fn type_by_pointer(span: Span, pointer: &str, name: &str) -> super::Diagnostic {
    unknown_reference(span, pointer, &[]).help(format!("a type is named plainly: `$ref: {name}`"))
}

/// A reference to an address.
pub(crate) fn reference_elsewhere(span: Span, target: &str) -> super::Diagnostic {
    unsupported_reference(
        span,
        format!("the reference `{target}` leads elsewhere, and nothing is fetched"),
    )
    .help("write the schema under `types` and refer to it by name")
}
