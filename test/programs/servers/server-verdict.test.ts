import { describe, expect, test } from "vitest";
import { createRequestCounter } from "../../../src/demo/load/load.ts";
import type { RolledPodEnd, RollOutcome } from "../harness/roll-request.ts";
import type { FoundProgram } from "../install/program-of.ts";
import { SERVERS } from "./server-table.ts";
import { verdictOf } from "./server-verdict.ts";

const [ROW] = SERVERS;
const NGINX: FoundProgram = { kind: "found", command: ["nginx"], environment: {}, version: "1.2.3", source: "Debian" };
const DRAINED: RolledPodEnd = {
  drainSeconds: 7,
  overWaitSeconds: 0.1,
  stopSeconds: 0.1,
  killed: false,
  outcome: "drained",
  why: "",
};

function outcome(requests: number, failed: number, ends: readonly RolledPodEnd[] = [DRAINED]): RollOutcome {
  const counter = createRequestCounter();
  for (let i = 0; i < requests; i++) counter.count("pooled", i < failed ? "reset" : undefined);
  return { counts: counter.counts(), ends };
}

const LOSING = outcome(500, 40);
const QUIET = outcome(500, 0);

function failuresOf(covered: RollOutcome, without: RollOutcome = LOSING): readonly string[] {
  if (ROW === undefined) throw new Error("the table is empty");
  return verdictOf(ROW, NGINX, {
    manager: "native",
    outcomes: { without, with: covered, endless: LOSING, preload: QUIET },
  }).failures;
}

test("a rollout without a failed request whose drains ended by themselves is what must hold", () => {
  expect(failuresOf(outcome(500, 0))).toEqual([]);
});

test("one request that failed with lastcall is told with its kind", () => {
  expect(failuresOf(outcome(500, 1))).toEqual(["1 of 500 requests (reset 1) failed with lastcall"]);
});

test("a drain that only its deadline ended is told with its reason", () => {
  const late = { ...DRAINED, outcome: "timeout", why: "10.0.0.1 stayed." };
  expect(failuresOf(outcome(500, 0, [DRAINED, late]))).toEqual([
    'a drain with lastcall ended as "timeout": 10.0.0.1 stayed.',
  ]);
});

test("a Pod that no manager drained is told", () => {
  expect(failuresOf(outcome(500, 0, [{ ...DRAINED, outcome: "" }]))).toEqual(['a drain with lastcall ended as "": ']);
});

test("a load that hardly asked anything proves nothing", () => {
  expect(failuresOf(outcome(50, 0))).toEqual(["50 requests show nothing, expected at least 200"]);
});

test("clients that never leave may lose requests, which the result keeps", () => {
  if (ROW === undefined) throw new Error("the table is empty");
  const outcomes = {
    without: LOSING,
    with: outcome(500, 0),
    endless: outcome(600, 5, [{ ...DRAINED, outcome: "timeout" }]),
    preload: QUIET,
  };
  const verdict = verdictOf(ROW, NGINX, { manager: "native", outcomes });
  expect(verdict.failures).toEqual([]);
  expect(verdict.result.endless).toMatchObject({ requests: 600, failed: 5, outcomes: ["timeout"] });
});

describe("the same clients, told to leave by preload,", () => {
  const stayed = outcome(600, 2, [{ ...DRAINED, outcome: "timeout", why: "10.0.0.1 stayed." }]);
  const verdict = (unreachedByPreload?: string) => {
    if (ROW === undefined) throw new Error("the table is empty");
    const row = unreachedByPreload === undefined ? ROW : { ...ROW, unreachedByPreload };
    const outcomes = { without: LOSING, with: QUIET, endless: LOSING, preload: stayed };
    return verdictOf(row, NGINX, { manager: "native", outcomes });
  };

  test("lose nothing, and end the drain", () => {
    expect(verdict().failures).toEqual([
      "2 of 600 requests (reset 2) failed with preload",
      'a drain with preload ended as "timeout": 10.0.0.1 stayed.',
    ]);
  });

  test("stay in a server that the library does not reach, which the result says", () => {
    expect(verdict("a static program").failures).toEqual([]);
    expect(verdict("a static program").result.preload).toMatchObject({ failed: 2, unreached: "a static program" });
  });
});
