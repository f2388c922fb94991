// The TypeScript SDK's client, version 1, checks a server: `typescript_v1_client.mjs legacy (URL | COMMAND ARGUMENT...)`.
// Prints its observations as one JSON object; the test compares them.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { observe } from "./observe.mjs";

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
console.log(JSON.stringify(await observe(client, () => protocol)));
await client.close();
