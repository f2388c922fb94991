// The observations of a TypeScript client, of either version, reduced to the facts that every SDK reports.

/** Calls a tool. Returns its result, or the code of the error. */
async function call(client, name, args) {
  try {
    const result = await client.callTool({ name, arguments: args });
    const text = result.content[0]?.type === "text" ? result.content[0].text : null;
    return { isError: result.isError === true, structured: result.structuredContent ?? null, text };
  } catch (error) {
    return { code: error.code };
  }
}

/** Calls `rest` several times at once. Returns how many calls succeeded, and whether they overlapped. */
async function atOnce(client, calls, milliseconds) {
  const start = performance.now();
  const one = () => call(client, "rest", { milliseconds });
  const results = await Promise.all(Array.from({ length: calls }, one));
  const elapsed = performance.now() - start;
  const done = results.filter((result) => result.structured?.rested === milliseconds).length;
  return { done, overlap: elapsed < (calls * milliseconds) / 2 };
}

/** Calls the server and returns all observations as one object. */
export async function observe(client, protocol) {
  const { tools } = await client.listTools();
  return {
    protocol: protocol(),
    tools: tools.length,
    title: tools.find((tool) => tool.name === "measure_text").title,
    structured: await call(client, "measure_text", { text: "two words" }),
    list: await call(client, "count_down", { from: 3 }),
    plain: await call(client, "test_simple_text", {}),
    invalid: await call(client, "measure_text", { text: "" }),
    failing: await call(client, "test_error_handling", {}),
    unknown: await call(client, "no_such_tool", {}),
    atOnce: await atOnce(client, 8, 300),
  };
}
