"""An MCP server of the older era on standard streams, with one fault: its first argument."""

import json
import sys
import time

fault = sys.argv[1]
if fault == "exits":
    print("no configuration \x1b[31m", file=sys.stderr, flush=True)
    sys.exit(4)
if fault == "silent":
    time.sleep(1000)

pages = 0
for line in sys.stdin:
    if fault == "greets":
        print("hello", flush=True)
        continue
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"error": {"code": -32601, "message": "no such method \x1b[31m"}}
    if message["method"] == "initialize":
        about = {"name": "script", "version": "1"}
        capabilities = {} if fault == "toolless" else {"tools": {}}
        answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": about}}
    elif message["method"] == "tools/list" and fault == "endless":
        pages += 1
        answer = {"result": {"tools": [], "nextCursor": str(pages)}}
    elif message["method"] == "tools/list" and fault == "huge":
        tool = {"name": "huge", "description": "x" * 100_000_000, "inputSchema": {"type": "object"}}
        answer = {"result": {"tools": [tool]}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
