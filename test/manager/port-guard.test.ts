import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { beginsWithToken, guardPort } from "../../src/manager/calls/port-guard.ts";
import type { PortGuard } from "../../src/manager/ports.ts";

const token = fc.stringMatching(/^[A-Za-z0-9_-]{1,128}$/);
const begins = (text: string, ours: string): boolean => beginsWithToken(Buffer.from(text), `/${ours}/`);

describe("the beginning of a call", () => {
  test("is right with the token in its path, whatever the token and whatever follows", () => {
    fc.assert(
      fc.property(token, fc.string(), (ours, rest) => {
        expect(begins(`GET /${ours}/${rest}`, ours)).toBe(true);
        expect(begins(`POST /${ours}/${rest}`, ours)).toBe(true);
      }),
    );
  });

  test("is wrong with any other token", () => {
    fc.assert(
      fc.property(token, token, (ours, theirs) => {
        fc.pre(ours !== theirs);
        expect(begins(`GET /${theirs}/status HTTP/1.1\r\n`, ours)).toBe(false);
        expect(begins(`POST /${theirs}/drain HTTP/1.1\r\n`, ours)).toBe(false);
      }),
    );
  });

  test("is wrong with whatever else a stranger sends", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(beginsWithToken(bytes, "/t0ken/")).toBe(false);
      }),
    );
  });

  test("is wrong while it does not yet show the whole token, however right it is so far", () => {
    for (const whole of ["GET /t0ken/", "POST /t0ken/"])
      for (let length = 0; length < whole.length; length += 1)
        expect(begins(whole.slice(0, length), "t0ken")).toBe(false);
  });
});

describe("guarding the port", () => {
  const guard = (taken: boolean, asked: string[]): PortGuard => ({
    prepare: (path) => {
      asked.push(path);
      return taken;
    },
    attach: () => {},
    admits: () => true,
    closed: () => 0,
  });

  test("asks for the token in the path, and says nothing where it is had", () => {
    const asked: string[] = [];
    expect(guardPort(guard(true, asked), "t0ken")).toBe("");
    expect(asked).toEqual(["/t0ken/"]);
  });

  test("says why there is none", () => {
    expect(guardPort(guard(false, []), "t0ken")).toContain("TCP_DEFER_ACCEPT");
  });
});
