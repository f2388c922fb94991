"""An MCP server of the older era on streamable HTTP that requires a token and a header. It prints its port."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer

PAGES = {None: ("first", "2"), "2": ("second", None)}


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(405)

    def do_DELETE(self):
        self.reply(200)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        wanted = {"Authorization": "Bearer open sesame", "X-Team": "tools"}
        if any(self.headers.get(name) != value for name, value in wanted.items()):
            return self.reply(401, b"{}")
        if "id" not in message:
            return self.reply(202)
        answer = {"error": {"code": -32601, "message": "no such method"}}
        if message["method"] == "initialize":
            about = {"name": "guarded", "version": "3"}
            answer = {"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about}}
        elif message["method"] == "tools/list":
            name, further = PAGES[message.get("params", {}).get("cursor")]
            tool = {"name": name, "description": "Does it.", "inputSchema": {"type": "object"}}
            answer = {"result": {"tools": [tool], **({"nextCursor": further} if further else {})}}
        self.reply(200, json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}).encode())


server = HTTPServer(("127.0.0.1", 0), Server)
print(server.server_port, flush=True)
server.serve_forever()
