/**
 * The two builds play every story at the same time, each in a Pod of its own, and what they did is laid side by side.
 * Node is the oracle: it runs the source as written.
 */
import { afterAll, describe, expect, test } from "vitest";
import { describeBoth, NATIVE_BUILD, NODE_BUILD } from "./builds.ts";
import { COMMANDS, IMPOSTURES } from "./differential/commands.ts";
import { APART_MS, differentOrder, differentTimes, TOLERANCE_MS } from "./differential/compare.ts";
import { DRAINS } from "./differential/drains.ts";
import { DRIVERS } from "./differential/drivers.ts";
import { RELAYS } from "./differential/relays.ts";
import type { Scenario } from "./differential/scenario.ts";
import { SIGNALS } from "./differential/signals.ts";
import { playIn } from "./differential/world.ts";
import { endRelays } from "./fake-relay.ts";
import { watchLag } from "./machine-lag.ts";
import { endManagers } from "./manager-process.ts";

afterAll(endRelays);
afterAll(endManagers);

async function compare({ play }: Scenario): Promise<void> {
  const lag = watchLag();
  const [node, native] = await Promise.all([playIn(NODE_BUILD, play), playIn(NATIVE_BUILD, play)]);
  // Whoever is kept waiting here is kept waiting there: the programs share the machine with this test.
  const lagMs = lag();
  const toleranceMs = TOLERANCE_MS + lagMs;
  const apartMs = APART_MS + lagMs;
  const both = `on Node:\n${JSON.stringify(node, null, 1)}\non the native build:\n${JSON.stringify(native, null, 1)}`;
  expect({ log: native.log, told: native.told }, both).toEqual({ log: node.log, told: node.told });
  expect([...differentTimes(node, native, toleranceMs), ...differentOrder(node, native, apartMs)], both).toEqual([]);
}

describeBoth("both builds do the same", { timeout: 60_000 }, () => {
  describe("in a Pod that ends", () => {
    test.concurrent.for([...DRAINS])("when $says", (scenario) => compare(scenario));
  });
  describe("with an app that is spoken to", () => {
    test.concurrent.for([...DRIVERS])("when there is $says", (scenario) => compare(scenario));
  });
  describe("with a relay", () => {
    test.concurrent.for([...RELAYS])("when $says", (scenario) => compare(scenario));
  });
  describe("told to stop", () => {
    test.concurrent.for([...SIGNALS])("when $says", (scenario) => compare(scenario));
  });
  describe("on the command line", () => {
    test.concurrent.for([...COMMANDS])("when $says", (scenario) => compare(scenario));
    test.for([...IMPOSTURES])("when $says", (scenario) => compare(scenario));
  });
});
