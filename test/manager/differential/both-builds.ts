/**
 * The two builds play every story at the same time, each in a Pod of its own, and what they did is laid side by side.
 * Node is the oracle: it runs the source as written.
 */
import { expect } from "vitest";
import { NATIVE_BUILD, NODE_BUILD } from "../builds.ts";
import { watchLag } from "../machine-lag.ts";
import { APART_MS, differentOrder, differentTimes, TOLERANCE_MS } from "./compare.ts";
import type { Scenario } from "./scenario.ts";
import { playIn } from "./world.ts";

export async function compare({ play }: Scenario): Promise<void> {
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
