// Asks the YAML language server, as an editor does, for the mistakes in a document and for the completions at its places.
// Prints the answers as JSON; the Rust test that runs it checks them.
//
// Usage: node ask.mjs SERVER DOCUMENT LINE:COLUMN... (both from 0); the document names its schema in its first line.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const PATIENCE = 60_000;

const [server, path, ...places] = process.argv.slice(2);
const uri = pathToFileURL(path).href;
const child = spawn(process.execPath, [server, "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
let published;
const diagnostics = new Promise((resolve) => (published = resolve));

// A frame is a header with a length, an empty line and a text of that many bytes (LSP 3.17, base protocol).
let buffer = Buffer.alloc(0);
child.stdout.on("data", (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/Content-Length: (\d+)/i.exec(buffer.subarray(0, end).toString())[1]);
    if (buffer.length < end + 4 + length) return;
    const text = buffer.subarray(end + 4, end + 4 + length).toString();
    buffer = buffer.subarray(end + 4 + length);
    receive(JSON.parse(text));
  }
});

function send(message) {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

function receive(message) {
  if (message.method === undefined) {
    waiting.get(message.id)(message.result);
  } else if (message.id !== undefined) {
    // The server asks for settings and for notifications of changes, and gets neither.
    const items = message.params?.items;
    send({ id: message.id, result: items ? items.map(() => null) : null });
  } else if (message.method === "textDocument/publishDiagnostics" && message.params.uri === uri) {
    published(message.params.diagnostics);
  }
}

let next = 0;
function ask(method, params) {
  const id = ++next;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    send({ id, method, params });
  });
}

setTimeout(() => {
  console.error(`the language server has not answered for ${PATIENCE / 1000} seconds`);
  process.exit(1);
}, PATIENCE).unref();

await ask("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
send({ method: "initialized", params: {} });
const text = readFileSync(path, "utf8");
send({
  method: "textDocument/didOpen",
  params: { textDocument: { uri, languageId: "yaml", version: 1, text } },
});

const found = await diagnostics;
const completions = [];
for (const place of places) {
  const [line, character] = place.split(":").map(Number);
  const answer = await ask("textDocument/completion", {
    textDocument: { uri },
    position: { line, character },
  });
  completions.push((answer?.items ?? answer ?? []).map((item) => item.label));
}
console.log(
  JSON.stringify({
    diagnostics: found.map(({ message, range }) => ({ message, line: range.start.line })),
    completions,
  }),
);
child.kill();
process.exit(0);
