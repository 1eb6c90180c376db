/** Tests the search for lost drains on a clock that the test advances. */
import { beforeEach, describe, expect, test } from "vitest";
import type { ApiResponse } from "../../../src/api-server/api-request.ts";
import type { BrokenDrain } from "../../../src/relay/lost/lost-drain.ts";
import { CANDIDATES_LIMIT, createLostDrains, type LostDrains } from "../../../src/relay/lost/lost-drains.ts";
import { createManualClock, type ManualClock } from "../manual-clock.ts";
import { BROKEN_DRAIN, POD_WITH_KILLED_MANAGER, POD_WITH_RUNNING_MANAGER, podResponse } from "./broken-drain.ts";

const POD_NOT_FOUND: ApiResponse = { status: 404, text: "" };
const { pod } = BROKEN_DRAIN;

let response: ApiResponse | Error;
let requestedPaths: string[];
let reportedLosses: { readonly uid: string; readonly exitCode: number }[];
let drains: LostDrains;
let clock: ManualClock;

const advance = (ms: number): Promise<void> => clock.advance(ms);

beforeEach(() => {
  response = POD_WITH_RUNNING_MANAGER;
  requestedPaths = [];
  reportedLosses = [];
  clock = createManualClock(500);
  drains = createLostDrains({
    request: async ({ path }) => {
      requestedPaths.push(path);
      if (response instanceof Error) throw response;
      return response;
    },
    clock,
    onLost: (drain, { exitCode }) => reportedLosses.push({ uid: drain.pod.uid, exitCode }),
  });
});

function breakStream(drain: BrokenDrain = BROKEN_DRAIN): void {
  drains.onStreamOpened(drain.pod);
  drains.onStreamClosed(drain.pod, drain);
}

/** Simulates the kubelet: the Pod's status contains the manager's exit for one second, then the Pod is deleted. */
async function showKilledManager(): Promise<void> {
  await advance(5_000);
  response = POD_WITH_KILLED_MANAGER;
  await advance(1_000);
  response = POD_NOT_FOUND;
}

describe("a drain whose stream broke", () => {
  test("is lost if its Pod shows a killed manager, after a wait for late reports", async () => {
    breakStream();
    await showKilledManager();
    await advance(8_500);
    expect(reportedLosses).toEqual([]);
    await advance(1_000);
    expect(reportedLosses).toEqual([{ uid: "uid-1", exitCode: 137 }]);
    await advance(60_000);
    expect([reportedLosses.length, clock.timerCount()]).toEqual([1, 0]);
    expect(requestedPaths[0]).toBe("/api/v1/namespaces/shop/pods/web-1?resourceVersion=0");
  });

  test("is not lost if its report arrives during the wait", async () => {
    breakStream();
    await showKilledManager();
    drains.onReport(pod);
    await advance(60_000);
    expect(reportedLosses).toEqual([]);
  });

  test("is not lost if the same Pod opens another stream", async () => {
    breakStream();
    await showKilledManager();
    drains.onStreamOpened(pod);
    await advance(60_000);
    expect(reportedLosses).toEqual([]);
  });

  test("is not lost while its Pod has another stream, and its Pod is read only after the last stream has ended", async () => {
    drains.onStreamOpened(pod);
    breakStream();
    response = POD_WITH_KILLED_MANAGER;
    await advance(60_000);
    expect([reportedLosses, requestedPaths]).toEqual([[], []]);
    drains.onStreamClosed(pod, BROKEN_DRAIN);
    await advance(60_000);
    expect(reportedLosses).toHaveLength(1);
  });

  test("is not lost without proof, since another replica may have received its report", async () => {
    breakStream();
    await advance(10_000);
    response = POD_NOT_FOUND;
    await advance(60_000);
    expect([reportedLosses, clock.timerCount()]).toEqual([[], 0]);
  });

  test.for([
    { title: "ended by itself", exitCode: 0, finishedAt: "2026-11-18T11:06:40Z" },
    { title: "was killed after its wait for the withdrawal", exitCode: 137, finishedAt: "2026-11-18T11:06:42Z" },
  ])("is not lost if its manager $title, and its Pod is not read again", async ({ exitCode, finishedAt }) => {
    breakStream();
    response = podResponse({ terminated: { exitCode, finishedAt } });
    await advance(60_000);
    expect([reportedLosses, requestedPaths.length]).toEqual([[], 1]);
  });

  test("causes reads of its Pod while the API server fails, until the grace period of the Pod has passed", async () => {
    breakStream();
    response = new Error("no answer");
    await advance(60_000);
    expect(requestedPaths).toHaveLength(120);
    await advance(60_000);
    expect([requestedPaths.length, reportedLosses, clock.timerCount()]).toEqual([179, [], 0]);
  });
});

test("a stream that ends outside of a drain, or that the relay ends, does not cause a read of its Pod", async () => {
  drains.onStreamOpened(pod);
  drains.onStreamClosed(pod, undefined);
  response = POD_WITH_KILLED_MANAGER;
  await advance(60_000);
  expect([reportedLosses, requestedPaths]).toEqual([[], []]);
});

test("Pods of broken streams are read 25 at a time, and at most 1 000 of these Pods wait for their read", async () => {
  for (let index = 0; index <= CANDIDATES_LIMIT; index += 1)
    breakStream({ ...BROKEN_DRAIN, pod: { ...pod, pod: `web-${index}`, uid: `${index}` } });
  await advance(500);
  expect(requestedPaths).toHaveLength(25);
  await advance(20_000);
  expect(new Set(requestedPaths).size).toBe(CANDIDATES_LIMIT);
  expect(requestedPaths.some((path) => path.includes("/web-0?"))).toBe(false);
});
