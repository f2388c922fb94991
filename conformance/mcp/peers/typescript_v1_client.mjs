// The TypeScript SDK's client, version 1, meets a server: `typescript_v1_client.mjs legacy (URL | COMMAND ARGUMENT...)`.
// Prints one JSON object of what it saw; judges nothing itself.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { sight } from "./sight.mjs";

const [, command, ...args] = process.argv.slice(2);
const transport = command.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(command))
  : new StdioClientTransport({ command, args });
let protocol;
transport.setProtocolVersion = ((set) => (version) => {
  protocol = version;
  set?.call(transport, version);
})(transport.setProtocolVersion);
const client = new Client({ name: "typescript-v1-client", version: "1.0.0" });
await client.connect(transport);
console.log(JSON.stringify(await sight(client, () => protocol)));
await client.close();
