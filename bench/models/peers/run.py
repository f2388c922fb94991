"""Runs an agent of pydantic-ai on the stage, and prints the seconds of the run."""

import sys
import time

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

agent = Agent(OpenAIChatModel("a-model", provider=OpenAIProvider(base_url=sys.argv[1], api_key="none")))


@agent.tool_plain
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


start = time.perf_counter()
answer = agent.run_sync("Add.", usage_limits=UsageLimits(request_limit=None)).output
seconds = time.perf_counter() - start
assert answer == "done", answer
print(seconds)
