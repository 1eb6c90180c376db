import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLocalClient, isSameSecret, routeOf } from "../../src/manager/calls/call-route.ts";

const routeOfRequest = (method: string, url: string, isLocal = true) =>
  routeOf({ method, url, isLocal }, "abc", ["app", "web-1"]);

describe("the routes of the manager's port", () => {
  test.for([
    { method: "GET", url: "/abc/prestop/app", route: { kind: "prestop", container: "app" } },
    { method: "GET", url: "/abc/prestop/web-1?x=1", route: { kind: "prestop", container: "web-1" } },
    { method: "POST", url: "/abc/drain", route: { kind: "drain" } },
    { method: "GET", url: "/abc/status", route: { kind: "status" } },
  ])("include $method $url", ({ method, url, route }) => {
    expect(routeOfRequest(method, url)).toEqual(route);
  });

  test("exclude the drain command for an external caller, even with the token", () => {
    expect(routeOfRequest("POST", "/abc/drain", false)).toEqual({ kind: "nothing" });
  });

  test("exclude arbitrary paths without the token", () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom("GET", "POST", "HEAD"), (text, method) => {
        fc.pre(!text.startsWith("/abc/"));
        expect(routeOfRequest(method, text)).toEqual({ kind: "nothing" });
      }),
    );
  });

  test("require exactly the manager's token, which is never empty", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (presented, expected) => {
        expect(isSameSecret(presented, expected)).toBe(presented === expected && expected !== "");
        expect(isSameSecret(expected, expected)).toBe(expected !== "");
      }),
    );
  });

  test.for(["ab", "abcd", "abd", "Abc", ""])("reject the token '%s' instead of 'abc'", (presented) => {
    expect(isSameSecret(presented, "abc")).toBe(false);
    expect(routeOfRequest("GET", `/${presented}/status`)).toEqual({ kind: "nothing" });
  });

  test.for([
    { address: "::ffff:127.0.0.1", scope: "", origin: "local" },
    { address: "127.4.5.6", scope: "", origin: "local" },
    { address: "::1", scope: "", origin: "local" },
    { address: "10.0.0.7", scope: "", origin: "external" },
    { address: "::ffff:10.0.0.7", scope: "", origin: "external" },
    { address: "10.0.0.7", scope: "10.0.0.7", origin: "local" },
    { address: "fd00::7", scope: "fd00:0:0::7", origin: "local" },
    { address: "", scope: "", origin: "external" },
  ])("treat a caller at '$address' with the address scope '$scope' as $origin", ({ address, scope, origin }) => {
    expect(isLocalClient(address, scope)).toBe(origin === "local");
  });
});
