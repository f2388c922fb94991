"""Runs an agent of pydantic-ai durably with DBOS on SQLite, many times, 32 at once, and prints the runs a second."""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from dbos import DBOS, SetWorkflowID
from pydantic_ai import Agent
from pydantic_ai.durable_exec.dbos import DBOSDurability
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

STEPS, CALLS, AT_ONCE = 3, 2, 32


async def plan(messages, _):
    """Make two calls in each of three steps."""
    step = sum(isinstance(message, ModelResponse) for message in messages)
    if step == STEPS:
        return ModelResponse(parts=[TextPart("done")])
    return ModelResponse(parts=[ToolCallPart("echo", {"key": f"{step}.{n}"}) for n in range(CALLS)])


agent = Agent(FunctionModel(plan), name="quick", capabilities=[DBOSDurability()])


@agent.tool_plain
@DBOS.step()
async def echo(key: str) -> str:
    """Return the key."""
    return key


@DBOS.workflow()
async def quick() -> str:
    """Run the agent."""
    return (await agent.run("Go.")).output


async def main(runs: int) -> None:
    DBOS.launch()
    at_once = asyncio.Semaphore(AT_ONCE)

    async def run(name: str) -> None:
        async with at_once:
            with SetWorkflowID(name):
                answer = await quick()
            assert answer == "done", answer

    await run("first")
    start = time.perf_counter()
    await asyncio.gather(*(run(str(n)) for n in range(runs)))
    print(runs / (time.perf_counter() - start))


with tempfile.TemporaryDirectory() as folder:
    database = f"sqlite:///{Path(folder) / 'dbos.sqlite'}"
    DBOS(config={"name": "bench", "system_database_url": database, "log_level": "ERROR"})
    asyncio.run(main(int(sys.argv[1])))
    DBOS.destroy()
