import { describe, expect, test } from "vitest";
import { createRequestCounter } from "../../../src/demo/load/load.ts";
import type { RolledPodEnd, RollOutcome } from "../harness/roll-request.ts";
import type { FoundProgram } from "../install/program-of.ts";
import { checkServer } from "./server-checks.ts";
import { SERVERS } from "./server-table.ts";

const [ROW] = SERVERS;
const NGINX: FoundProgram = { kind: "found", command: ["nginx"], environment: {}, version: "1.2.3", source: "Debian" };
const DRAINED_POD: RolledPodEnd = {
  drainSeconds: 7,
  overWaitSeconds: 0.1,
  stopSeconds: 0.1,
  killed: false,
  outcome: "drained",
  why: "",
};

function buildOutcome(requests: number, failed: number, ends: readonly RolledPodEnd[] = [DRAINED_POD]): RollOutcome {
  const counter = createRequestCounter();
  for (let i = 0; i < requests; i++) counter.count("pooled", i < failed ? "reset" : undefined);
  return { counts: counter.counts(), ends };
}

const LOSSY_OUTCOME = buildOutcome(500, 40);
const LOSSLESS_OUTCOME = buildOutcome(500, 0);

function failuresOf(withLastcall: RollOutcome, without: RollOutcome = LOSSY_OUTCOME): readonly string[] {
  if (ROW === undefined) throw new Error("the table is empty");
  return checkServer(ROW, NGINX, {
    manager: "native",
    outcomes: {
      without,
      with: withLastcall,
      endless: LOSSY_OUTCOME,
      endlessSleep: LOSSY_OUTCOME,
      sleep: LOSSY_OUTCOME,
      preload: LOSSLESS_OUTCOME,
    },
  }).failures;
}

test("a rollout passes if no request failed and every drain ended before the deadline", () => {
  expect(failuresOf(buildOutcome(500, 0))).toEqual([]);
});

test("one failed request with lastcall is reported with its kind", () => {
  expect(failuresOf(buildOutcome(500, 1))).toEqual(["1 of 500 requests (reset 1) failed with lastcall"]);
});

test("a drain that ended at its deadline is reported with its reason", () => {
  const lateDrain = { ...DRAINED_POD, outcome: "timeout", why: "10.0.0.1 stayed." };
  expect(failuresOf(buildOutcome(500, 0, [DRAINED_POD, lateDrain]))).toEqual([
    'a drain with lastcall ended as "timeout": 10.0.0.1 stayed.',
  ]);
});

test("a Pod that no manager drained is reported", () => {
  expect(failuresOf(buildOutcome(500, 0, [{ ...DRAINED_POD, outcome: "" }]))).toEqual([
    'a drain with lastcall ended as "": ',
  ]);
});

test("a load with fewer than 200 requests fails the check", () => {
  expect(failuresOf(buildOutcome(50, 0))).toEqual(["50 requests were sent, expected at least 200"]);
});

test("clients that never close their connections can lose requests, and the result records these requests", () => {
  if (ROW === undefined) throw new Error("the table is empty");
  const outcomes = {
    without: LOSSY_OUTCOME,
    with: buildOutcome(500, 0),
    sleep: LOSSY_OUTCOME,
    endless: buildOutcome(600, 5, [{ ...DRAINED_POD, outcome: "timeout" }]),
    endlessSleep: LOSSY_OUTCOME,
    preload: LOSSLESS_OUTCOME,
  };
  const check = checkServer(ROW, NGINX, { manager: "native", outcomes });
  expect(check.failures).toEqual([]);
  expect(check.result.endless).toMatchObject({ requests: 600, failed: 5, outcomes: ["timeout"] });
});

describe("with preload, clients that never close their connections", () => {
  const lossyPreload = buildOutcome(600, 2, [{ ...DRAINED_POD, outcome: "timeout", why: "10.0.0.1 stayed." }]);
  const check = (unreachedByPreload?: string) => {
    if (ROW === undefined) throw new Error("the table is empty");
    const row = unreachedByPreload === undefined ? ROW : { ...ROW, unreachedByPreload };
    const outcomes = {
      without: LOSSY_OUTCOME,
      with: LOSSLESS_OUTCOME,
      endless: LOSSY_OUTCOME,
      endlessSleep: LOSSY_OUTCOME,
      sleep: LOSSY_OUTCOME,
      preload: lossyPreload,
    };
    return checkServer(row, NGINX, { manager: "native", outcomes });
  };

  test("must not lose a request or delay the end of the drain until its deadline", () => {
    expect(check().failures).toEqual([
      "2 of 600 requests (reset 2) failed with preload",
      'a drain with preload ended as "timeout": 10.0.0.1 stayed.',
    ]);
  });

  test("can lose requests if the server does not load the preload library, and the result records these requests", () => {
    expect(check("a statically linked program").failures).toEqual([]);
    expect(check("a statically linked program").result.preload).toMatchObject({
      failed: 2,
      unreached: "a statically linked program",
    });
  });
});
