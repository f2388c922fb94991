// What the TypeScript SDKs' clients see of a server, reduced to what every SDK tells. Knows neither version of the SDK.

/** A call's result, or the code of the error that came instead. */
async function called(client, name, args) {
  try {
    const result = await client.callTool({ name, arguments: args });
    const text = result.content[0]?.type === "text" ? result.content[0].text : null;
    return { isError: result.isError === true, structured: result.structuredContent ?? null, text };
  } catch (error) {
    return { code: error.code };
  }
}

/** Whether as many calls as are asked for rest beside each other, not one after the other. */
async function atOnce(client, calls, milliseconds) {
  const start = performance.now();
  const one = () => called(client, "rest", { milliseconds });
  const results = await Promise.all(Array.from({ length: calls }, one));
  const elapsed = performance.now() - start;
  const done = results.filter((result) => result.structured?.rested === milliseconds).length;
  return { done, overlap: elapsed < (calls * milliseconds) / 2 };
}

/** Everything, as one object. */
export async function sight(client, protocol) {
  const { tools } = await client.listTools();
  return {
    protocol: protocol(),
    tools: tools.length,
    title: tools.find((tool) => tool.name === "measure_text").title,
    structured: await called(client, "measure_text", { text: "two words" }),
    list: await called(client, "count_down", { from: 3 }),
    plain: await called(client, "test_simple_text", {}),
    invalid: await called(client, "measure_text", { text: "" }),
    failing: await called(client, "test_error_handling", {}),
    unknown: await called(client, "no_such_tool", {}),
    atOnce: await atOnce(client, 8, 300),
  };
}
