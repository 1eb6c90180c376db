/** Drains whose stream broke, followed on a clock that the test moves. */
import { beforeEach, describe, expect, test } from "vitest";
import type { ApiResponse } from "../../../src/api-server/api-request.ts";
import type { BrokenDrain } from "../../../src/relay/lost/lost-drain.ts";
import { CANDIDATES_LIMIT, createLostDrains, type LostDrains } from "../../../src/relay/lost/lost-drains.ts";
import { type TurnedClock, turnedClock } from "../manual-clock.ts";
import { BROKEN, KILLED, podAnswer, RUNNING } from "./broken-drain.ts";

const GONE: ApiResponse = { status: 404, text: "" };
const { pod } = BROKEN;

let answer: ApiResponse | Error;
let asked: string[];
let lost: { readonly uid: string; readonly exitCode: number }[];
let drains: LostDrains;
let clock: TurnedClock;

const turn = (ms: number): Promise<void> => clock.turn(ms);

beforeEach(() => {
  answer = RUNNING;
  asked = [];
  lost = [];
  clock = turnedClock(500);
  drains = createLostDrains({
    request: async ({ path }) => {
      asked.push(path);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    clock,
    onLost: (drain, { exitCode }) => lost.push({ uid: drain.pod.uid, exitCode }),
  });
});

function breaks(drain: BrokenDrain = BROKEN): void {
  drains.onStreamOpened(drain.pod);
  drains.onStreamClosed(drain.pod, drain);
}

/** The kubelet shows the end of the manager for a moment, then the Pod is gone. */
async function showsDeath(): Promise<void> {
  await turn(5_000);
  answer = KILLED;
  await turn(1_000);
  answer = GONE;
}

describe("a drain whose stream broke", () => {
  test("is lost if its Pod shows a killed manager, after a wait for late reports", async () => {
    breaks();
    await showsDeath();
    await turn(8_500);
    expect(lost).toEqual([]);
    await turn(1_000);
    expect(lost).toEqual([{ uid: "uid-1", exitCode: 137 }]);
    await turn(60_000);
    expect([lost.length, clock.timers()]).toEqual([1, 0]);
    expect(asked[0]).toBe("/api/v1/namespaces/shop/pods/web-1?resourceVersion=0");
  });

  test("is not lost if its report arrives during the wait", async () => {
    breaks();
    await showsDeath();
    drains.onReport(pod);
    await turn(60_000);
    expect(lost).toEqual([]);
  });

  test("is not lost if the same Pod opens another stream", async () => {
    breaks();
    await showsDeath();
    drains.onStreamOpened(pod);
    await turn(60_000);
    expect(lost).toEqual([]);
  });

  test("is not lost while its Pod has another stream, and its Pod is read after the last stream", async () => {
    drains.onStreamOpened(pod);
    breaks();
    answer = KILLED;
    await turn(60_000);
    expect([lost, asked]).toEqual([[], []]);
    drains.onStreamClosed(pod, BROKEN);
    await turn(60_000);
    expect(lost).toHaveLength(1);
  });

  test("is not lost without proof, since another replica may have received its report", async () => {
    breaks();
    await turn(10_000);
    answer = GONE;
    await turn(60_000);
    expect([lost, clock.timers()]).toEqual([[], 0]);
  });

  test.for([
    { title: "ended by itself", exitCode: 0, finishedAt: "2026-11-18T11:06:40Z" },
    { title: "was killed after its wait for the withdrawal", exitCode: 137, finishedAt: "2026-11-18T11:06:42Z" },
  ])("is not lost if its manager $title, and its Pod is not read again", async ({ exitCode, finishedAt }) => {
    breaks();
    answer = podAnswer({ terminated: { exitCode, finishedAt } });
    await turn(60_000);
    expect([lost, asked.length]).toEqual([[], 1]);
  });

  test("is unresolved while the API server fails, until the grace period of its Pod has passed", async () => {
    breaks();
    answer = new Error("no answer");
    await turn(60_000);
    expect(asked).toHaveLength(120);
    await turn(60_000);
    expect([asked.length, lost, clock.timers()]).toEqual([179, [], 0]);
  });
});

test("a stream that ends outside of a drain, or by the relay, causes no read of its Pod", async () => {
  drains.onStreamOpened(pod);
  drains.onStreamClosed(pod, undefined);
  answer = KILLED;
  await turn(60_000);
  expect([lost, asked]).toEqual([[], []]);
});

test("Pods of broken streams are read 25 at a time, and at most 1 000 of them are remembered", async () => {
  for (let at = 0; at <= CANDIDATES_LIMIT; at += 1)
    breaks({ ...BROKEN, pod: { ...pod, pod: `web-${at}`, uid: `${at}` } });
  await turn(500);
  expect(asked).toHaveLength(25);
  await turn(20_000);
  expect(new Set(asked).size).toBe(CANDIDATES_LIMIT);
  expect(asked.some((path) => path.includes("/web-0?"))).toBe(false);
});
