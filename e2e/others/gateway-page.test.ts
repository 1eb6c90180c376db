import { expect, test } from "vitest";
import type { GatewayResult } from "../client/gateway-results.ts";
import { gatewayTables } from "./gateway-page.ts";

const result: GatewayResult = {
  gateway: "Contour",
  versions: "Contour 1.33.8",
  date: "2026-11-27",
  ending: "own",
  load: "http2",
  requests: 7_000,
  failed: 3,
  longestSeconds: 12.04,
  longestOverWaitSeconds: 6.96,
  ownManagerMiB: 18.25,
};

const names = { gateway: "Contour", own: "its own manager", proxy: "Envoy" };

test("a row of a gateway's table has a cell for each ending, and a dash for an ending that was not measured with the row's load", () => {
  const lastcall = {
    ...result,
    ending: "lastcall" as const,
    failed: 0,
    longestSeconds: 5.06,
    longestOverWaitSeconds: 0.06,
  };
  const neither = { ...result, ending: "neither" as const, load: "grpc" as const };
  const text = gatewayTables(names, [result, { ...lastcall, lastcallMiB: 0.58 }, neither]);
  expect(text).toContain("| load | its own manager | lastcall | no hook |");
  expect(text).toContain(
    "| HTTP/2, sessions that never close | **3** of 7000; 12.0 s; 7.0 s | **0** of 7000; 5.1 s; 0.1 s | – |",
  );
  expect(text).toContain("its own 18.3 MiB, lastcall's 0.58 MiB");
});

test("a gateway without results is an error", () => {
  expect(() => gatewayTables({ ...names, gateway: "Envoy Gateway" }, [result])).toThrow("no results of Envoy Gateway");
});
