import { describe, expect, test } from "vitest";
import { BENCH_SCENARIOS, scenarioName } from "./rollout-scenarios.ts";
import { checkRollouts, type RolloutsLine } from "./rollouts-checks.ts";
import { missingRolloutScenarios, rolloutsPage } from "./rollouts-page.ts";
import { perProtocol, type RolloutsResult } from "./rollouts-request.ts";
import { missingSleepScenarios, sleepPage } from "./sleep-page.ts";
import { SLEEP_SCENARIOS } from "./sleep-scenarios.ts";

const drain = {
  outcome: "drained",
  why: "",
  drainMs: 8_940,
  overWaitMs: 64,
  leftTotal: 2,
  served: true,
};

const result: RolloutsResult = {
  manager: "native",
  nodes: [
    {
      answered: { http1: 0, http2: 11_000, grpc: 0 },
      failed: perProtocol(() => 0),
      failures: [],
      measuredMs: 20_000,
      perSecond: [548],
      longestStallMs: 3,
      lastWorkMs: {},
    },
  ],
  drains: [...Array.from({ length: 39 }, () => drain), { ...drain, drainMs: 12_010, overWaitMs: 251 }],
  machineLoad: 1.5,
  processors: 2,
};

const lines: readonly RolloutsLine[] = BENCH_SCENARIOS.map((scenario) => checkRollouts(scenario, result).line);

describe("docs/rollouts.md", () => {
  test("lists the failures, the rate and the drains of each scenario that must not lose a request", () => {
    const row =
      "| HTTP/2 | short-lived | none | **0** of 11000 | 550 | 548 | 8.9 s, 12.0 s | 64 ms, 251 ms | 39 of 40 |";
    expect(rolloutsPage(lines)).toContain(row);
  });

  test("lists scenarios that may lose requests in a separate table", () => {
    const lossyLines = lines.map((line) =>
      line.promised ? line : { ...line, failed: { http1: 0, http2: 7, grpc: 0 } },
    );
    const [, others = ""] = rolloutsPage(lossyLines).split("## Endless clients without a driver");
    expect(others).toContain("| HTTP/2 | **7** of 11007 | drained 40 |");
    expect(others.split("\n").filter((line) => line.startsWith("| HTTP") || line.startsWith("| gRPC"))).toHaveLength(3);
  });

  test("shows 0 ms of over-wait for a drain that ended early", () => {
    const earlyLines = lines.map((line) => ({ ...line, overWaitMs: { median: -300, most: -20 } }));
    expect(rolloutsPage(earlyLines)).toContain("| 0 ms, 0 ms |");
  });

  test("lists the scenarios without a result, and ignores results of other kinds of cases", () => {
    const [first, ...others] = lines;
    const serverResult = { kind: "server", system: first?.system ?? "" };
    expect(missingRolloutScenarios([...others, serverResult])).toEqual([first?.system]);
    expect(missingRolloutScenarios(lines)).toEqual([]);
    expect(first?.system).toBe(BENCH_SCENARIOS.map(scenarioName)[0]);
  });
});

describe("docs/beside-sleep.md", () => {
  const sleepLines = SLEEP_SCENARIOS.map((scenario) => checkRollouts(scenario, result).line);

  test("has a row for each scenario with its failed requests and times", () => {
    const page = sleepPage([...lines, ...sleepLines]);
    expect(page).toContain("| graceful | 1 s late | preStop: sleep 5 | **0** of 11000 | 8.9 s, 12.0 s | – |");
    expect(page).toContain("| abrupt | 8 s late | lastcall | **0** of 11000 | 8.9 s, 12.0 s | drained 40 |");
    expect(page.split("\n").filter((line) => /^\| (graceful|abrupt) \|/.test(line))).toHaveLength(
      SLEEP_SCENARIOS.length,
    );
  });

  test("needs a result of each of its scenarios, whose names are unique", () => {
    expect(missingSleepScenarios(sleepLines)).toEqual([]);
    expect(missingSleepScenarios(lines)).toEqual(SLEEP_SCENARIOS.map(scenarioName));
    const names = [...BENCH_SCENARIOS, ...SLEEP_SCENARIOS].map(scenarioName);
    expect(new Set(names).size).toBe(names.length);
  });
});
