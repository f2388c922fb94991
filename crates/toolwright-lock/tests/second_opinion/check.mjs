// Asks jsoncompat. Reads lines of JSON and answers each with a line:
// `{"old", "new", "role"}` with `{"compatible"}`, `{"schema", "value"}` with `{"valid"}`, or either with `{"error"}`.
// The argument is the folder of the npm packages.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const folder = resolve(process.argv[2], "node_modules/jsoncompat");
const jsoncompat = await import(pathToFileURL(`${folder}/jsoncompat_wasm.js`));
jsoncompat.initSync({ module: readFileSync(`${folder}/jsoncompat_wasm_bg.wasm`) });

function answer({ old, new: changed, role, schema, value }) {
  try {
    return schema === undefined
      ? { compatible: jsoncompat.check_compat(old, changed, role) }
      : { valid: jsoncompat.validator_for(schema).is_valid(value) };
  } catch (error) {
    return { error: String(error) };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(answer(JSON.parse(line))));
}
