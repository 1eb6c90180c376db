import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { beginsWithToken, guardPort } from "../../src/manager/calls/port-guard.ts";
import type { PortGuard } from "../../src/manager/ports.ts";

const anyToken = fc.stringMatching(/^[A-Za-z0-9_-]{1,128}$/);
const beginsWith = (text: string, expectedToken: string): boolean =>
  beginsWithToken(Buffer.from(text), `/${expectedToken}/`);

describe("the filter for the first bytes of a request", () => {
  test("matches the right token in the path, for any later bytes", () => {
    fc.assert(
      fc.property(anyToken, fc.string(), (expectedToken, rest) => {
        expect(beginsWith(`GET /${expectedToken}/${rest}`, expectedToken)).toBe(true);
        expect(beginsWith(`POST /${expectedToken}/${rest}`, expectedToken)).toBe(true);
      }),
    );
  });

  test("does not match another token", () => {
    fc.assert(
      fc.property(anyToken, anyToken, (expectedToken, otherToken) => {
        fc.pre(expectedToken !== otherToken);
        expect(beginsWith(`GET /${otherToken}/status HTTP/1.1\r\n`, expectedToken)).toBe(false);
        expect(beginsWith(`POST /${otherToken}/drain HTTP/1.1\r\n`, expectedToken)).toBe(false);
      }),
    );
  });

  test("does not match arbitrary bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(beginsWithToken(bytes, "/t0ken/")).toBe(false);
      }),
    );
  });

  test("does not match a truncated token", () => {
    for (const prefix of ["GET /t0ken/", "POST /t0ken/"])
      for (let length = 0; length < prefix.length; length += 1)
        expect(beginsWith(prefix.slice(0, length), "t0ken")).toBe(false);
  });
});

describe("the port guard", () => {
  const createGuard = (isSupported: boolean, preparedPrefixes: string[]): PortGuard => ({
    prepare: (path) => {
      preparedPrefixes.push(path);
      return isSupported;
    },
    attach: () => {},
    admits: () => true,
    closedCount: () => 0,
  });

  test("filters by the token in the path", () => {
    const preparedPrefixes: string[] = [];
    expect(guardPort(createGuard(true, preparedPrefixes), "t0ken")).toBe("");
    expect(preparedPrefixes).toEqual(["/t0ken/"]);
  });

  test("reports that the kernel lacks the option TCP_DEFER_ACCEPT", () => {
    expect(guardPort(createGuard(false, []), "t0ken")).toContain("TCP_DEFER_ACCEPT");
  });
});
