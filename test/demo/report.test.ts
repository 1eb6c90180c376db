import { describe, expect, test } from "vitest";
import { createRequestCounter } from "../../src/demo/load/load.ts";
import type { EndedPod } from "../../src/demo/report/pod-end.ts";
import { failureTable, timeSpent, withdrawalText } from "../../src/demo/report/report.ts";

function ended(drainSeconds: number, withdrawing: number, draining: number): EndedPod {
  return {
    pod: "hello-1",
    address: "10.66.0.10",
    deletedMs: 0,
    triggeredMs: 0,
    propagationMs: 2_000,
    slicesWithdrawnMs: undefined,
    events: [],
    forwarded: [],
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

const lineOf = (end: EndedPod) => timeSpent([end])[1];

test("the parts of a Pod's end add up to the whole, starting hooks and stopping included", () => {
  expect(lineOf(ended(7.5, 5_000, 700))).toBe(
    "  hello-1  7.5 s = withdrawing 5.0 s, draining 0.7 s, starting hooks and stopping 1.8 s",
  );
});

test("a part too short to be seen is left out", () => {
  expect(lineOf(ended(5.04, 5_000, 20))).toBe("  hello-1  5.0 s = withdrawing 5.0 s");
});

test("the table shows the kinds of failure that happened, and fits a terminal of 80 columns", () => {
  const without = createRequestCounter();
  without.count("pooled", "refused");
  without.count("pooled", "closed-unanswered");
  without.count("pooled", undefined);
  const withLastcall = createRequestCounter();
  withLastcall.count("pooled", undefined);
  expect(failureTable(without.tally(), withLastcall.tally())).toEqual([
    "                   requests  failed  refused  closed-unanswered",
    "without lastcall          3       2        1                  1",
    "with lastcall             1       0        0                  0",
  ]);
});

describe("what is said of the endpoint withdrawal", () => {
  /** Deleted at 0, triggered at 300 ms, withdrawn from slices at 1 s. */
  function saying(relay: string, withdrawnAfterMs: number): string | undefined {
    const end = { ...ended(7.5, 5_000, 700), triggeredMs: 300, slicesWithdrawnMs: 1_000 };
    if (end.summary === undefined) return undefined;
    return timeSpent([{ ...end, summary: { ...end.summary, relay, withdrawnAfterMs } }])[3];
  }

  test.for([
    {
      relay: "withdrawn",
      afterMs: 712,
      says: "    EndpointSlices withdrew it after 1.00 s; its manager learned that after 1.01 s.",
    },
    {
      relay: "offered",
      afterMs: -1,
      says: "    EndpointSlices withdrew it after 1.00 s; its manager did not learn that: the deadline came first.",
    },
    {
      relay: "unknown: the relay refused the connection",
      afterMs: -1,
      says: "    EndpointSlices withdrew it after 1.00 s; its manager did not learn that: the relay refused the connection.",
    },
    {
      relay: "",
      afterMs: -1,
      says: "    EndpointSlices withdrew it after 1.00 s; its manager did not learn that: it told nothing of the relay.",
    },
  ])("a manager whose relay was '$relay'", ({ relay, afterMs, says }) => {
    expect(saying(relay, afterMs)).toBe(says);
  });

  test.for([
    { afterMs: 90, says: "learned that after 2.49 s, 0.09 s after its drain had begun." },
    { afterMs: 0, says: "learned that after 2.40 s, as soon as its drain began." },
  ])("a manager whose hook took long to start is not blamed for it: $says", ({ afterMs, says }) => {
    const end = { ...ended(7.5, 5_000, 700), triggeredMs: 2_400, slicesWithdrawnMs: 1_000 };
    const told = { relay: "withdrawn", withdrawnAfterMs: afterMs };
    const summary = end.summary === undefined ? undefined : { ...end.summary, ...told };
    expect(withdrawalText({ ...end, summary })).toBe(`EndpointSlices withdrew it after 1.00 s; its manager ${says}`);
  });

  test("nothing where no one keeps EndpointSlices", () => {
    expect(timeSpent([ended(7.5, 5_000, 700)])).toHaveLength(3);
  });
});
