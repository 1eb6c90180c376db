import { describe, expect, test } from "vitest";
import type { ServerResult } from "./program-result.ts";
import { resultLines, upsertResult } from "./record-result.ts";
import { systemsPage } from "./systems-page.ts";

const NO_FAILURES = { refused: 0, reset: 0, "closed-unanswered": 0, "timed-out": 0, "bad-status": 0 };

const serverResult = (overrides: Partial<ServerResult>): ServerResult => ({
  kind: "server",
  system: "nginx",
  version: "1.22.1 (Debian)",
  stopSignal: "SIGQUIT",
  signalOf: "image",
  without: { requests: 800, failed: 12, kinds: { ...NO_FAILURES, refused: 9, reset: 1, "closed-unanswered": 2 } },
  with: { requests: 1600, failed: 0, kinds: NO_FAILURES },
  sleep: { requests: 1200, failed: 2, kinds: { ...NO_FAILURES, reset: 2 } },
  endless: {
    requests: 900,
    failed: 3,
    kinds: { ...NO_FAILURES, "timed-out": 3 },
    outcomes: ["handed-over"],
    drainSeconds: 15.24,
    overWaitSeconds: 0.1,
  },
  endlessSleep: { requests: 950, failed: 4, kinds: { ...NO_FAILURES, "timed-out": 4 } },
  preload: {
    requests: 700,
    failed: 0,
    kinds: NO_FAILURES,
    outcomes: ["drained"],
    drainSeconds: 7.31,
    overWaitSeconds: 0.04,
    unreached: "",
  },
  manager: "native",
  drainSeconds: 9.14,
  overWaitSeconds: 0.056,
  stopSeconds: 0.02,
  ...overrides,
});

describe("the file with the results of cases", () => {
  test("has one line for each system and stop signal, in the order of the first run", () => {
    const first = upsertResult("", serverResult({}));
    const second = upsertResult(first, serverResult({ stopSignal: "SIGTERM" }));
    const third = upsertResult(second, serverResult({ drainSeconds: 5 }));
    expect(resultLines(third)).toEqual([serverResult({ drainSeconds: 5 }), serverResult({ stopSignal: "SIGTERM" })]);
  });

  test("keeps the lines of other kinds of cases", () => {
    const other = { kind: "broker", system: "nginx", redelivered: 0 };
    expect(resultLines(upsertResult(upsertResult("", other), serverResult({})))).toEqual([other, serverResult({})]);
  });

  test("causes an error with the number of a line that is not JSON", () => {
    expect(() => resultLines('{"kind":"a","system":"b"}\n{half')).toThrow("line 2 of the results is not JSON");
  });
});

describe("docs/systems.md", () => {
  const page = systemsPage([serverResult({}), { kind: "broker", system: "RabbitMQ" }]);

  test("lists the failed requests by kind: without lastcall, with a sleep hook, and with lastcall", () => {
    expect(page).toContain(
      "| nginx | 1.22.1 (Debian) | SIGQUIT (image) | **12** of 800: refused 9, cut 3 | **2** of 1200: cut 2 | **0** of 1600 | 9.1 s | 0.06 s |",
    );
  });

  test("lists the failed requests of clients that never close their connections", () => {
    expect(page).toContain(
      "| nginx | SIGQUIT | **4** of 950: silent 4 | **3** of 900: silent 3 | 15.2 s | handed-over |",
    );
  });

  test("lists the drains with preload", () => {
    expect(page).toContain("| nginx | SIGQUIT | **0** of 700 | 7.3 s | 0.04 s | drained |");
  });

  test("gives the reason why a server does not load the preload library", () => {
    const { preload } = serverResult({});
    const unreached = { ...preload, outcomes: ["timeout"], unreached: "a statically linked program" };
    expect(systemsPage([serverResult({ preload: unreached })])).toContain(
      "| timeout (not reached: a statically linked program) |",
    );
  });

  test("excludes results of other kinds of cases", () => {
    expect(page).not.toContain("RabbitMQ");
  });

  test("lists the drains with an idle HTTP/2 connection if they were measured", () => {
    const http2 = {
      kind: "http2",
      system: "nginx",
      version: "1.22.1 (Debian)",
      first: { drainSeconds: 7.02, outcome: "drained" },
      later: { drainSeconds: 5.04, outcome: "drained" },
      large: { drainSeconds: 10.02, outcome: "timeout" },
    };
    expect(systemsPage([serverResult({}), http2])).toContain(
      "| nginx | 1.22.1 (Debian) | 7.0 s, drained | 5.0 s, drained | 10.0 s, timeout |",
    );
    expect(page).not.toContain("HTTP/2");
  });
});
