"""Decides which payloads a schema of JSON Schema 2020-12 accepts, with the `jsonschema` package with exact numbers, ECMA-262
patterns and hand-checked formats. It shares no code with the compiler or the codecs.

It reads requests from standard input and writes a line to standard output for each:

    judge TAB schema TAB payload    ->  "+" (accepted), "-" (refused) or "?" TAB reason (not decided),
                                        "!" TAB failure
    schema TAB schema               ->  "+" if it is a schema of 2020-12, else "-"
    equal TAB one TAB other TAB schema
                                    ->  "same", "rounded" (the same except for numbers that became doubles) or "other";
                                        the other may have more keys, each with a default of the schema
"""

import datetime
import ipaddress
import json
import math
import pathlib
import re
import sys
import threading
from fractions import Fraction

from jsonschema import Draft202012Validator, ValidationError, validators

HERE = pathlib.Path(__file__).parent


class Undecided(Exception):
    """The oracle has no certain answer."""


# ------------------------------------------------------------------------------------------------------------------
# Numbers: an int if the number is whole, else a Fraction. Both are exact and compare with each other.


def number(text):
    exact = Fraction(text)
    return exact.numerator if exact.denominator == 1 else exact


def read(text):
    return json.loads(text, parse_int=number, parse_float=number)


def is_integer(_, value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(_, value):
    return isinstance(value, (int, Fraction)) and not isinstance(value, bool)


def equal(one, other, same_number=lambda one, other: one == other, defaults=()):
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if is_number(None, one) and is_number(None, other):
        return same_number(one, other)
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(equal(a, b, same_number, defaults) for a, b in zip(one, other))
    if isinstance(one, dict):
        return one.keys() <= other.keys() and all(
            equal(one[key], value, same_number, defaults)
            if key in one
            else any(equal(default, value, same_number, defaults) for default in defaults)
            for key, value in other.items()
        )
    return one == other


def defaults_in(schema):
    if isinstance(schema, dict):
        yield from (value for key, value in schema.items() if key == "default")
    if isinstance(schema, (dict, list)):
        for part in schema.values() if isinstance(schema, dict) else schema:
            yield from defaults_in(part)


def nearest_double(value):
    try:
        return float(value)
    except OverflowError:
        return sys.float_info.max if value > 0 else -sys.float_info.max


def is_rounded(number, double):
    """Returns whether a double is one of the two around a number. It need not be the nearest, because a bound may be between the
    number and the nearest double. A double has the value of its shortest text, as bounds are written."""
    nearest, double = nearest_double(number), nearest_double(double)
    shortest = Fraction(repr(nearest))
    other = math.nextafter(nearest, math.inf if number > shortest else -math.inf) if number != shortest else nearest
    return double in (nearest, other)


# ------------------------------------------------------------------------------------------------------------------
# Patterns: only those of the table, each with its translation.

PATTERNS = {
    row["ecma"]: re.compile(row["python"], re.ASCII)
    for row in json.loads((HERE / "patterns.json").read_text(encoding="utf-8"))
}


def matches(pattern, text):
    if pattern not in PATTERNS:
        raise Undecided(f"the pattern {pattern!r} is not in the table")
    return PATTERNS[pattern].search(text) is not None


# ------------------------------------------------------------------------------------------------------------------
# Formats: by rule if the rule is certain, else by a table of literals.

FORMATS = json.loads((HERE / "formats.json").read_text(encoding="utf-8"))

HEX = "[0-9A-Fa-f]"
BYTE = "(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
TIME = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
DURATION = (
    r"P([0-9]+W|(?=.)([0-9]+Y([0-9]+M([0-9]+D)?)?|[0-9]+M([0-9]+D)?|[0-9]+D)?"
    r"(T([0-9]+H([0-9]+M([0-9]+S)?)?|[0-9]+M([0-9]+S)?|[0-9]+S))?)"
)


def is_date(text):
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    if text.startswith("0000"):
        return None
    try:
        datetime.date(int(text[:4]), int(text[5:7]), int(text[8:]))
    except ValueError:
        return False
    return True


def is_time(text):
    # Leap seconds are left to the table.
    return None if ":60" in text else re.fullmatch(TIME, text) is not None


def is_date_time(text):
    if not re.fullmatch("[Tt]", text[10:11]):
        return False
    parts = [is_date(text[:10]), is_time(text[11:])]
    return False if False in parts else None if None in parts else True


def is_ipv6(text):
    if "%" in text or not re.fullmatch("[0-9A-Fa-f:.]+", text):
        return False
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def unless(necessary):
    """Returns a rule: False if a string lacks the necessary form, else None (undecided)."""
    return lambda text: None if re.fullmatch(necessary, text, re.DOTALL) else False


RULES = {
    "date": is_date,
    "time": is_time,
    "date-time": is_date_time,
    "uuid": lambda text: re.fullmatch(f"{HEX}{{8}}(-{HEX}{{4}}){{3}}-{HEX}{{12}}", text) is not None,
    "ipv4": lambda text: re.fullmatch(rf"{BYTE}(\.{BYTE}){{3}}", text) is not None,
    "ipv6": is_ipv6,
    "duration": lambda text: re.fullmatch(DURATION, text) is not None,
    "json-pointer": lambda text: re.fullmatch("(/([^~/]|~[01])*)*", text, re.DOTALL) is not None,
    "email": unless("[^@]+.*@.+"),
    "hostname": unless("[A-Za-z0-9.-]{1,254}"),
    "uri": unless("[A-Za-z][A-Za-z0-9+.-]*:[!-~]*"),
    "regex": lambda text: True if re.fullmatch("[A-Za-z0-9 ]*", text) else None,
}


def has_format(name, text):
    if name not in RULES:
        return True
    table = FORMATS[name]
    if text in table["valid"]:
        return True
    if text in table["invalid"]:
        return False
    by_rule = RULES[name](text)
    if by_rule is None:
        raise Undecided(f"{text!r} as {name} is not in the table")
    return by_rule


# ------------------------------------------------------------------------------------------------------------------
# Keywords for which the package is not exact, or uses Python's patterns.


def error(message):
    return [ValidationError(message)]


def pattern(validator, wanted, value, schema):
    if isinstance(value, str) and not matches(wanted, value):
        return error("pattern")


# OpenAPI Format Registry.
INTEGERS = {f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)}
INTEGERS |= {f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)}


def format_(validator, name, value, schema):
    if isinstance(value, str) and not has_format(name, value):
        return error("format")
    if name in INTEGERS and is_number(None, value):
        least, greatest = INTEGERS[name]
        if Fraction(value) % 1 != 0 or not least <= Fraction(value) <= greatest:
            return error("format")


def multiple_of(validator, divisor, value, schema):
    if is_number(None, value) and Fraction(value) / Fraction(divisor) % 1 != 0:
        return error("multipleOf")


def const(validator, wanted, value, schema):
    if not equal(wanted, value):
        return error("const")


def enum(validator, wanted, value, schema):
    if not any(equal(one, value) for one in wanted):
        return error("enum")


def unique_items(validator, wanted, value, schema):
    if wanted and isinstance(value, list):
        if any(equal(one, other) for at, one in enumerate(value) for other in value[:at]):
            return error("uniqueItems")


def pattern_properties(validator, patterns, value, schema):
    if isinstance(value, dict):
        for wanted, below in patterns.items():
            for key, member in value.items():
                if matches(wanted, key):
                    yield from validator.descend(member, below)


def additional_properties(validator, below, value, schema):
    if isinstance(value, dict):
        for key, member in value.items():
            if not is_named(schema, key):
                yield from validator.descend(member, below)


def is_named(schema, key):
    """Returns whether `properties` or `patternProperties` of this schema apply to a key."""
    patterns = schema.get("patternProperties", {})
    # Evaluates all of them, so that an undecided pattern does not depend on the order.
    found = [matches(pattern, key) for pattern in patterns]
    return key in schema.get("properties", {}) or any(found)


def unevaluated_properties(validator, below, value, schema):
    if isinstance(value, dict):
        known = evaluated(validator, value, without(schema, "unevaluatedProperties"))
        for key, member in value.items():
            if key not in known:
                yield from validator.descend(member, below)


def unevaluated_items(validator, below, value, schema):
    if isinstance(value, list):
        known = evaluated(validator, value, without(schema, "unevaluatedItems"))
        for at, member in enumerate(value):
            if at not in known:
                yield from validator.descend(member, below)


def without(schema, keyword):
    return {word: text for word, text in schema.items() if word != keyword}


def evaluated(validator, value, schema):
    """Returns the keys or positions of a value that a schema evaluates, if it accepts the value (core, 11; 10.3)."""
    if isinstance(schema, bool):
        return set()
    known = set()

    def accepts(below):
        return validator.evolve(schema=below).is_valid(value)

    def take(below):
        if accepts(below):
            known.update(evaluated(validator, value, below))

    if "$ref" in schema:
        found = validator._resolver.lookup(schema["$ref"])
        inside = validator.evolve(schema=found.contents, _resolver=found.resolver)
        if inside.is_valid(value):
            known.update(evaluated(inside, value, found.contents))
    for keyword in ("allOf", "anyOf", "oneOf"):
        for below in schema.get(keyword, []):
            take(below)
    if "if" in schema:
        take(schema["if"])
        branch = "then" if accepts(schema["if"]) else "else"
        if branch in schema:
            take(schema[branch])
    if isinstance(value, dict):
        for key, below in schema.get("dependentSchemas", {}).items():
            if key in value:
                take(below)
        if "additionalProperties" in schema or "unevaluatedProperties" in schema:
            known.update(value)
        known.update(key for key in value if is_named(schema, key))
    if isinstance(value, list):
        known.update(range(min(len(schema.get("prefixItems", [])), len(value))))
        if "items" in schema or "unevaluatedItems" in schema:
            known.update(range(len(value)))
        if "contains" in schema:
            inside = validator.evolve(schema=schema["contains"])
            known.update(at for at, member in enumerate(value) if inside.is_valid(member))
    return known


Exact = validators.extend(
    Draft202012Validator,
    validators={
        "pattern": pattern,
        "format": format_,
        "multipleOf": multiple_of,
        "const": const,
        "enum": enum,
        "uniqueItems": unique_items,
        "patternProperties": pattern_properties,
        "additionalProperties": additional_properties,
        "unevaluatedProperties": unevaluated_properties,
        "unevaluatedItems": unevaluated_items,
    },
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer).redefine("number", is_number),
)


# ------------------------------------------------------------------------------------------------------------------
# The protocol.

validator_of = {}


def judge(schema, payload):
    try:
        if schema not in validator_of:
            validator_of.clear()
            validator_of[schema] = Exact(read(schema))
        return "+" if validator_of[schema].is_valid(read(payload)) else "-"
    except Undecided as reason:
        return f"?\t{reason}"
    except RecursionError:
        return "?\ttoo deep for the oracle"
    except Exception as reason:  # The caller decides whether the schema or the oracle is wrong.
        return f"!\t{reason!r}"


def is_schema(schema):
    return "+" if Draft202012Validator(Draft202012Validator.META_SCHEMA).is_valid(json.loads(schema)) else "-"


def compare(one, other, schema):
    one, other, defaults = read(one), read(other), list(defaults_in(read(schema)))
    if equal(one, other, defaults=defaults):
        return "same"
    rounded = equal(one, other, is_rounded, defaults)
    return "rounded" if rounded else "other"


def main():
    for line in sys.stdin:
        question, *parts = line.rstrip("\n").split("\t")
        answer = {"judge": judge, "schema": is_schema, "equal": compare}[question](*parts)
        print(answer.replace("\n", " "), flush=True)


if __name__ == "__main__":
    sys.set_int_max_str_digits(0)
    sys.setrecursionlimit(20_000)
    sys.stdin.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    threading.stack_size(512 * 1024 * 1024)
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
