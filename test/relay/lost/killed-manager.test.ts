/** Tests the withdrawal route together with the search for lost drains, when a manager is killed. */
import { expect, test } from "vitest";
import { createLostDrains } from "../../../src/relay/lost/lost-drains.ts";
import { eventually } from "../../time/eventually.ts";
import { createManualClock } from "../manual-clock.ts";
import { IN_STATUS, OUT_STATUS, REQUEST, startStreamingRelay } from "../withdrawal/streaming-relay.ts";
import { BROKE_AT_MS, POD_WITH_KILLED_MANAGER } from "./broken-drain.ts";

test("a drain is lost if its status stream breaks and its Pod shows a killed manager, unless the manager reconnects", async () => {
  const clock = createManualClock(500);
  const lostUids: string[] = [];
  const lostDrains = createLostDrains({
    request: async () => POD_WITH_KILLED_MANAGER,
    clock,
    onLost: ({ pod }) => lostUids.push(pod.uid),
  });
  const relay = await startStreamingRelay({ lostDrains, wallMs: () => BROKE_AT_MS });
  const startDrain = async () => {
    const response = await relay.request();
    relay.watchers.at(-1)?.send(OUT_STATUS);
    await eventually(() => expect(response.lines()).toEqual([IN_STATUS, OUT_STATUS]));
    return response;
  };
  const breakStream = async (response: { readonly disconnect: () => void }): Promise<void> => {
    response.disconnect();
    await eventually(() => expect(relay.watchers.at(-1)?.hasLeft).toBe(true));
  };
  await breakStream(await startDrain());
  await clock.advance(10_000);
  const secondDrain = await startDrain();
  await clock.advance(20_000);
  expect(lostUids).toEqual([]);
  await breakStream(secondDrain);
  await clock.advance(20_000);
  expect(lostUids).toEqual([REQUEST.uid]);
  await relay.close();
});
