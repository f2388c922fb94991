// The TypeScript SDK's client, version 2, meets a server: `typescript_client.mjs ERA (URL | COMMAND ARGUMENT...)`.
// Prints one JSON object of what it saw; judges nothing itself.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { sight } from "./sight.mjs";

const [era, command, ...args] = process.argv.slice(2);
const transport = command.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args });
const mode = era === "legacy" ? "legacy" : "auto";
const client = new Client({ name: "typescript-client", version: "1.0.0" }, { versionNegotiation: { mode } });
await client.connect(transport);
console.log(JSON.stringify(await sight(client, () => client.getNegotiatedProtocolVersion())));
await client.close();
