/**
 * The two builds play every story at the same time, each in a Pod of its own, and what they did is laid side by side.
 * Node is the oracle: it runs the source as written.
 */
import { expect } from "vitest";
import { CLOCKED_NATIVE_BUILD, CLOCKED_NODE_BUILD } from "../builds.ts";
import type { Scenario } from "./scenario.ts";
import { playIn } from "./world.ts";

export async function compare({ play }: Scenario): Promise<void> {
  const [node, native] = await Promise.all([playIn(CLOCKED_NODE_BUILD, play), playIn(CLOCKED_NATIVE_BUILD, play)]);
  expect(native).toEqual(node);
}
