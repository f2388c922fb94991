// The TypeScript SDK's client, version 2, checks a server: `typescript_client.mjs ERA (URL | COMMAND ARGUMENT...)`.
// Prints its observations as one JSON object; the test compares them.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { observe } from "./observe.mjs";

const [era, command, ...args] = process.argv.slice(2);
const transport = command.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args });
const mode = era === "legacy" ? "legacy" : "auto";
const client = new Client({ name: "typescript-client", version: "1.0.0" }, { versionNegotiation: { mode } });
await client.connect(transport);
console.log(JSON.stringify(await observe(client, () => client.getNegotiatedProtocolVersion())));
await client.close();
