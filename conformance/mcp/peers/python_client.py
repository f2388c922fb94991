"""The Python SDK's client checks a server: `python_client.py ERA (URL | COMMAND ARGUMENT...)`.

Prints its observations as one JSON object; the test compares them.
"""

import asyncio
import json
import sys
import time

from mcp import Client, MCPError, StdioServerParameters


async def call(client, name, arguments):
    """Calls a tool. Returns its result, reduced to the facts that every SDK reports."""
    try:
        result = await client.call_tool(name, arguments)
    except MCPError as error:
        return {"code": error.error.code}
    text = result.content[0].text if result.content and result.content[0].type == "text" else None
    return {"isError": bool(result.is_error), "structured": result.structured_content, "text": text}


async def at_once(client, calls, milliseconds):
    """Calls `rest` several times at once. Returns how many calls succeeded, and whether they overlapped."""
    start = time.monotonic()
    rest = {"milliseconds": milliseconds}
    results = await asyncio.gather(*(call(client, "rest", rest) for _ in range(calls)))
    elapsed = (time.monotonic() - start) * 1000
    done = sum(result.get("structured") == {"rested": milliseconds} for result in results)
    return {"done": done, "overlap": elapsed < calls * milliseconds / 2}


async def meet(era, target):
    command, *arguments = target
    remote = command.startswith("http")
    server = command if remote else StdioServerParameters(command=command, args=arguments)
    async with Client(server, mode="legacy" if era == "legacy" else "auto") as client:
        tools = (await client.list_tools()).tools
        return {
            "protocol": client.protocol_version,
            "tools": len(tools),
            "title": next(tool.title for tool in tools if tool.name == "measure_text"),
            "structured": await call(client, "measure_text", {"text": "two words"}),
            "list": await call(client, "count_down", {"from": 3}),
            "plain": await call(client, "test_simple_text", {}),
            "invalid": await call(client, "measure_text", {"text": ""}),
            "failing": await call(client, "test_error_handling", {}),
            "unknown": await call(client, "no_such_tool", {}),
            "atOnce": await at_once(client, 8, 300),
        }


print(json.dumps(asyncio.run(meet(sys.argv[1], sys.argv[2:]))))
