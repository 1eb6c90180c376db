/** The streaming route and the search together: a connection is destroyed, and the Pod shows a killed manager. */
import { expect, test } from "vitest";
import { createLostDrains } from "../../../src/relay/lost/lost-drains.ts";
import { eventually } from "../../time/eventually.ts";
import { turnedClock } from "../manual-clock.ts";
import { IN, OUT, REQUEST, streamingRelay } from "../withdrawal/streaming-relay.ts";
import { BROKE_AT, KILLED } from "./broken-drain.ts";

test("a drain is lost if its stream breaks and its Pod shows a killed manager, unless it reconnects", async () => {
  const clock = turnedClock(500);
  const found: string[] = [];
  const lost = createLostDrains({ request: async () => KILLED, clock, onLost: ({ pod }) => found.push(pod.uid) });
  const relay = await streamingRelay({ lost, wallMs: () => BROKE_AT });
  const drain = async () => {
    const answer = await relay.request();
    relay.watchers.at(-1)?.send(OUT);
    await eventually(() => expect(answer.lines()).toEqual([IN, OUT]));
    return answer;
  };
  const leaves = async (answer: { readonly leave: () => void }): Promise<void> => {
    answer.leave();
    await eventually(() => expect(relay.watchers.at(-1)?.left).toBe(true));
  };
  await leaves(await drain());
  await clock.turn(10_000);
  const again = await drain();
  await clock.turn(20_000);
  expect(found).toEqual([]);
  await leaves(again);
  await clock.turn(20_000);
  expect(found).toEqual([REQUEST.uid]);
  await relay.close();
});
