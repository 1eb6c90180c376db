import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readChainedHooks } from "../../src/manager/calls/original-hooks.ts";

describe("chained hooks", () => {
  test("are read from what injection wrote, whatever else stands there", () => {
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

  test.for(["", '{"grace":null}', '{"chain":null}', '{"chain":{}}'])("the text '%s' has none", (text) => {
    expect(readChainedHooks(text)).toEqual({ hooks: [], problem: "" });
  });

  test.for([
    { says: "no JSON", text: "{" },
    { says: "an exec hook", text: '{"chain":{"app":{"exec":{"command":["x"]}}}}' },
    { says: "a port by name", text: '{"chain":{"app":{"httpGet":{"port":"http"}}}}' },
    { says: "a path that would break the request", text: '{"chain":{"app":{"httpGet":{"port":80,"path":"/a b"}}}}' },
    { says: "a hook over TLS", text: '{"chain":{"app":{"httpGet":{"port":80,"scheme":"HTTPS"}}}}' },
    { says: "a sleep no timer can hold", text: '{"chain":{"app":{"sleep":{"seconds":3000000}}}}' },
    {
      says: "a header that would break the request",
      text: '{"chain":{"app":{"httpGet":{"port":80,"httpHeaders":[{"name":"a","value":"b\\r\\nc: d"}]}}}}',
    },
    { says: "a list", text: "[]1" },
    { says: "depth without end", text: "[".repeat(5_000) },
    { says: "a length no one wrote", text: `{"x":"${"y".repeat(20_000)}"}` },
  ])("$says is refused with a sentence", ({ text }) => {
    const read = readChainedHooks(text);
    expect(read.hooks).toEqual([]);
    expect(read.problem).not.toBe("");
  });

  test("no text makes the reader throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(Array.isArray(readChainedHooks(text).hooks)).toBe(true);
        expect(Array.isArray(readChainedHooks(`{"chain":${text}}`).hooks)).toBe(true);
      }),
    );
  });
});
