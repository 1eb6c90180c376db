import { describe, expect, test } from "vitest";
import { createRequestCounter } from "../../src/demo/load/load.ts";
import type { EndedPod } from "../../src/demo/report/pod-end.ts";
import { drainTimeLines, failureTable, withdrawalText } from "../../src/demo/report/report.ts";

function endedPod(drainSeconds: number, withdrawing: number, draining: number): EndedPod {
  return {
    pod: "hello-1",
    address: "10.66.0.10",
    deletedMs: 0,
    triggeredMs: 0,
    propagationMs: 2_000,
    slicesWithdrawnMs: undefined,
    events: [],
    forwardedConnections: [],
    drainSeconds,
    summary: {
      outcome: "drained",
      trigger: "hook",
      milliseconds: { withdrawing, deregistration: 0, draining, holding: 0 },
      left: [],
      leftTotal: 0,
      evidenceSource: "netlink",
      why: "Released 5s after the trigger.",
      relay: "",
      withdrawnAfterMs: -1,
    },
  };
}

const lineOf = (end: EndedPod) => drainTimeLines([end])[1];

test("the durations in the demo's report add up to the time until the stop signal", () => {
  expect(lineOf(endedPod(7.5, 5_000, 700))).toBe(
    "  hello-1  7.5 s = withdrawing 5.0 s, draining 0.7 s, start of the preStop hooks and stop of the containers 1.8 s",
  );
});

test("durations of 0.0 s are absent from the demo's report", () => {
  expect(lineOf(endedPod(5.04, 5_000, 20))).toBe("  hello-1  5.0 s = withdrawing 5.0 s");
});

test("the table of failures has columns only for the kinds that occurred", () => {
  const without = createRequestCounter();
  without.count("pooled", "refused");
  without.count("pooled", "closed-unanswered");
  without.count("pooled", undefined);
  const withLastcall = createRequestCounter();
  withLastcall.count("pooled", undefined);
  const rows = [
    { name: "without lastcall", counts: without.counts(), drainSeconds: [0.02] },
    { name: "with lastcall", counts: withLastcall.counts(), drainSeconds: [5.04, 15.5] },
  ];
  expect(failureTable(rows)).toEqual([
    "                   stop after  requests  failed  refused  closed-unanswered",
    "without lastcall        0.0 s         3       2        1                  1",
    "with lastcall          15.5 s         1       0        0                  0",
  ]);
});

describe("the line about the withdrawal", () => {
  /** Returns the line about a Pod that was deleted at 0, triggered at 300 ms, and withdrawn from EndpointSlices at 1 s. */
  function lineFor(relay: string, withdrawnAfterMs: number): string | undefined {
    const end = { ...endedPod(7.5, 5_000, 700), triggeredMs: 300, slicesWithdrawnMs: 1_000 };
    if (end.summary === undefined) return undefined;
    return drainTimeLines([{ ...end, summary: { ...end.summary, relay, withdrawnAfterMs } }])[3];
  }

  test.for([
    {
      relay: "withdrawn",
      afterMs: 712,
      line: "    The Pod was withdrawn from its EndpointSlices after 1.00 s; its manager was notified after 1.01 s.",
    },
    {
      relay: "offered",
      afterMs: -1,
      line: "    The Pod was withdrawn from its EndpointSlices after 1.00 s; its manager was not notified: its drain reached the deadline before the withdrawal.",
    },
    {
      relay: "unknown: the relay refused the connection",
      afterMs: -1,
      line: "    The Pod was withdrawn from its EndpointSlices after 1.00 s; its manager was not notified: the relay refused the connection.",
    },
    {
      relay: "",
      afterMs: -1,
      line: "    The Pod was withdrawn from its EndpointSlices after 1.00 s; its manager was not notified: its report has no relay status.",
    },
  ])("explains the relay status '$relay'", ({ relay, afterMs, line }) => {
    expect(lineFor(relay, afterMs)).toBe(line);
  });

  test.for([
    { afterMs: 90, notification: "was notified after 2.49 s, 0.09 s after its drain started." },
    { afterMs: 0, notification: "was notified after 2.40 s, as soon as its drain started." },
  ])(
    "shows the time since the start of the drain if a hook started late: the manager $notification",
    ({ afterMs, notification }) => {
      const end = { ...endedPod(7.5, 5_000, 700), triggeredMs: 2_400, slicesWithdrawnMs: 1_000 };
      const withdrawal = { relay: "withdrawn", withdrawnAfterMs: afterMs };
      const summary = end.summary === undefined ? undefined : { ...end.summary, ...withdrawal };
      expect(withdrawalText({ ...end, summary })).toBe(
        `The Pod was withdrawn from its EndpointSlices after 1.00 s; its manager ${notification}`,
      );
    },
  );

  test("is omitted if the demo does not have EndpointSlices", () => {
    expect(drainTimeLines([endedPod(7.5, 5_000, 700)])).toHaveLength(3);
  });
});
