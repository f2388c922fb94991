"""Transforms schemas as clients of providers do.

Reads lines `{"by", "schema"}` and answers each with `{"schema"}` or `{"error"}`. With `"times"`, it transforms the schema that many
times, and the answer also has the nanoseconds of processor time of one transformation, as `"ns"`."""

import copy
import json
import sys
import time
import warnings

from anthropic import transform_schema
from openai.lib._pydantic import _ensure_strict_json_schema
from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer, GoogleOpenAPISchemaTransformer
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer
from pydantic_ai.providers.anthropic import AnthropicJsonSchemaTransformer
from pydantic_ai.providers.bedrock import BedrockJsonSchemaTransformer


def strictly(transformer):
    return lambda schema: transformer(schema, strict=True).walk()


TRANSFORMS = {
    "pydantic-ai, OpenAI": strictly(OpenAIJsonSchemaTransformer),
    "openai-python": lambda schema: _ensure_strict_json_schema(schema, path=(), root=schema),
    "pydantic-ai, Google": strictly(GoogleJsonSchemaTransformer),
    "pydantic-ai, Google Live": strictly(GoogleOpenAPISchemaTransformer),
    "pydantic-ai, Anthropic": strictly(AnthropicJsonSchemaTransformer),
    "pydantic-ai, Bedrock": strictly(BedrockJsonSchemaTransformer),
    "anthropic-sdk-python": transform_schema,
}


def answer(question):
    transform = TRANSFORMS[question["by"]]
    copies = [copy.deepcopy(question["schema"]) for _ in range(question.get("times", 1))]
    try:
        start = time.process_time_ns()
        for schema in copies:
            done = transform(schema)
        ns = (time.process_time_ns() - start) / len(copies)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"schema": done, "ns": ns}


warnings.simplefilter("ignore")
for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
