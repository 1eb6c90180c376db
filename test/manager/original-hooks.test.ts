import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readChainedHooks } from "../../src/manager/calls/original-hooks.ts";

describe("the original hooks of containers", () => {
  test("are read from the environment variable without unknown fields", () => {
    const text =
      '{"grace":30,"probes":["app/liveness"],"chain":{"app":{"httpGet":{"port":8080,"path":"/bye"}},"web":{"sleep":{"seconds":3}},"api":{"httpGet":{"port":81}}}}';
    expect(readChainedHooks(text)).toEqual({
      hooks: [
        { kind: "http-get", container: "app", port: 8080, path: "/bye", headers: [] },
        { kind: "sleep", container: "web", seconds: 3 },
        { kind: "http-get", container: "api", port: 81, path: "/", headers: [] },
      ],
      problem: "",
    });
  });

  test.for(["", '{"grace":null}', '{"chain":null}', '{"chain":{}}'])("are empty if the variable is '%s'", (text) => {
    expect(readChainedHooks(text)).toEqual({ hooks: [], problem: "" });
  });

  test.for([
    { title: "a text that is not JSON", text: "{" },
    { title: "an exec hook", text: '{"chain":{"app":{"exec":{"command":["x"]}}}}' },
    { title: "a port by name", text: '{"chain":{"app":{"httpGet":{"port":"http"}}}}' },
    { title: "a path with a space", text: '{"chain":{"app":{"httpGet":{"port":80,"path":"/a b"}}}}' },
    { title: "a hook over TLS", text: '{"chain":{"app":{"httpGet":{"port":80,"scheme":"HTTPS"}}}}' },
    { title: "a sleep beyond the limit of timers", text: '{"chain":{"app":{"sleep":{"seconds":3000000}}}}' },
    {
      title: "a header with a line break",
      text: '{"chain":{"app":{"httpGet":{"port":80,"httpHeaders":[{"name":"a","value":"b\\r\\nc: d"}]}}}}',
    },
    { title: "a list", text: "[]1" },
    { title: "JSON nested too deeply", text: "[".repeat(5_000) },
    { title: "a text beyond the size limit", text: `{"x":"${"y".repeat(20_000)}"}` },
  ])("are refused with a message if the variable contains $title", ({ text }) => {
    const read = readChainedHooks(text);
    expect(read.hooks).toEqual([]);
    expect(read.problem).not.toBe("");
  });

  test("are read without exceptions from arbitrary text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(Array.isArray(readChainedHooks(text).hooks)).toBe(true);
        expect(Array.isArray(readChainedHooks(`{"chain":${text}}`).hooks)).toBe(true);
      }),
    );
  });
});
