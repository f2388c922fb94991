"""The benchmark's tools on FastMCP: `fastmcp_server.py stdio|http`. Over HTTP its URL is printed first."""

import socket
import sys
import time

from fastmcp import FastMCP
from pydantic import BaseModel


class Sum(BaseModel):
    sum: float


class Text(BaseModel):
    text: str


server = FastMCP("load")


@server.tool
async def add(a: float, b: float) -> Sum:
    """Add two numbers."""
    return Sum(sum=a + b)


@server.tool
async def panic() -> dict:
    """Fail where nobody expects it."""
    raise RuntimeError("as it was asked to")


@server.tool
def block(milliseconds: int) -> dict:
    """Block the thread it runs on."""
    time.sleep(milliseconds / 1000)
    return {}


@server.tool
async def fill(bytes: int) -> Text:
    """Return a long text."""
    return Text(text="x" * bytes)


if sys.argv[1] == "stdio":
    server.run(transport="stdio", show_banner=False, log_level="CRITICAL")
else:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    print(f"http://127.0.0.1:{port}/mcp", flush=True)
    options = {"host": "127.0.0.1", "port": port, "uvicorn_config": {"access_log": False}}
    server.run(transport="http", show_banner=False, log_level="CRITICAL", json_response=True, **options)
