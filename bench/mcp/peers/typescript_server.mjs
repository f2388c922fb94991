// The benchmark's tool on the TypeScript SDK: `typescript_server.mjs stdio|http`. Over HTTP its URL is printed first.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const server = new McpServer({ name: "calc", version: "1.0.0" });
const shape = {
  description: "Add two numbers.",
  inputSchema: { a: z.number(), b: z.number() },
  outputSchema: { sum: z.number() },
};
server.registerTool("add", shape, async ({ a, b }) => {
  const result = { sum: a + b };
  return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
});

if (process.argv[2] === "stdio") {
  await server.connect(new StdioServerTransport());
} else {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, enableJsonResponse: true });
  await server.connect(transport);
  const http = createServer((request, response) => transport.handleRequest(request, response));
  http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
}
