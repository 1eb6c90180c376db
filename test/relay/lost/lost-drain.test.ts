/** Tests which exits of a manager prove that its drain was lost, and the report of such a drain. */
import { describe, expect, test } from "vitest";
import type { ApiResponse } from "../../../src/api-server/api-request.ts";
import { isLost, lostReport, readManagerEnd } from "../../../src/relay/lost/lost-drain.ts";
import { BROKE_AT_MS, BROKEN_DRAIN, podResponse } from "./broken-drain.ts";

const SECOND_MS = 1_000;

describe("a drain whose stream broke is", () => {
  test.for([
    { title: "killed at that time", exitCode: 137, afterMs: 0, lost: true },
    { title: "killed at that time, rounded down to a second", exitCode: 137, afterMs: -999, lost: true },
    {
      title: "killed for lack of memory on a node whose clock is late",
      exitCode: 134,
      afterMs: -3 * SECOND_MS,
      lost: true,
    },
    { title: "killed on a node whose clock is early", exitCode: 137, afterMs: SECOND_MS, lost: true },
  ])("lost if its manager was $title", ({ exitCode, afterMs, lost }) => {
    expect(isLost(BROKEN_DRAIN, { exitCode, reason: "", endedAtMs: BROKE_AT_MS + afterMs })).toBe(lost);
  });

  test.for([
    { title: "exited by itself", exitCode: 0, afterMs: 0 },
    { title: "was stopped with open holds and sent a report", exitCode: 3, afterMs: 0 },
    { title: "was killed after its wait for the withdrawal", exitCode: 137, afterMs: SECOND_MS + 1 },
    { title: "was killed long before the stream broke", exitCode: 137, afterMs: -3 * SECOND_MS - 1 },
  ])("not lost if its manager $title", ({ exitCode, afterMs }) => {
    expect(isLost(BROKEN_DRAIN, { exitCode, reason: "", endedAtMs: BROKE_AT_MS + afterMs })).toBe(false);
  });
});

describe("the exit of a manager's container is read", () => {
  const TERMINATED_STATE = { exitCode: 137, reason: "OOMKilled", finishedAt: "2026-11-18T11:06:40Z" };

  test.for([{ list: "initContainerStatuses" }, { list: "containerStatuses" }] as const)("from $list", ({ list }) => {
    const end = { exitCode: 137, reason: "OOMKilled", endedAtMs: Date.UTC(2026, 10, 18, 11, 6, 40) };
    expect(readManagerEnd(podResponse({ terminated: TERMINATED_STATE }, { field: list }), "uid-1")).toEqual({
      kind: "ended",
      end,
    });
  });

  const otherPod: ApiResponse = { status: 200, text: JSON.stringify({ metadata: { uid: "uid-2" } }) };
  test.for([
    { title: "runs", response: podResponse({ running: {} }), kind: "open" },
    {
      title: "was restarted",
      response: podResponse({ running: {} }, { lastState: { terminated: TERMINATED_STATE } }),
      kind: "open",
    },
    {
      title: "exited in a Pod that is not deleted",
      response: podResponse({ terminated: TERMINATED_STATE }, { isDeleted: false }),
      kind: "open",
    },
    {
      title: "is not the manager",
      response: podResponse({ terminated: TERMINATED_STATE }, { name: "app" }),
      kind: "open",
    },
    {
      title: "exited at an unknown time",
      response: podResponse({ terminated: { exitCode: 137 } }),
      kind: "unreadable",
    },
    { title: "is in another Pod of that name", response: otherPod, kind: "gone" },
    { title: "was deleted with its Pod", response: { status: 404, text: "" }, kind: "gone" },
    { title: "is in a Pod that the relay may not read", response: { status: 403, text: "{}" }, kind: "unreadable" },
    { title: "is in a malformed response", response: { status: 200, text: "[" }, kind: "unreadable" },
  ])("as `$kind` if the container $title", ({ response, kind }) => {
    expect(readManagerEnd(response, "uid-1")).toEqual({ kind });
  });
});

test("the report of a lost drain has the length of the stream, the cause and a remedy", () => {
  const report = lostReport(BROKEN_DRAIN, { exitCode: 137, reason: "OOMKilled", endedAtMs: BROKE_AT_MS });
  expect(report).toMatchObject({ outcome: "lost", phase: "withdrawing", relay: "withdrawn" });
  expect(report.milliseconds).toEqual({ withdrawing: 4_000, deregistration: 0, draining: 0, holding: 0 });
  expect(report.why).toContain("exit code 137 (OOMKilled) ");
  expect(report.why).toContain("memory limit");
});

test("the report of a lost drain does not have control characters or a negative length", () => {
  const end = { exitCode: 137, reason: "a\u001b[2J", endedAtMs: BROKE_AT_MS };
  const report = lostReport({ ...BROKEN_DRAIN, openedAtMs: BROKE_AT_MS + 5 }, end);
  expect(report.why).toContain("(a?[2J)");
  expect(report.milliseconds.withdrawing).toBe(0);
});
