/** Plays each scenario on both builds at the same time, in separate Pods, and compares the transcripts. Node is the oracle. */
import { expect } from "vitest";
import { CLOCKED_NATIVE_BUILD, CLOCKED_NODE_BUILD } from "../builds.ts";
import type { Scenario } from "./scenario.ts";
import { playIn } from "./simulated-pod.ts";

export async function compare({ play }: Scenario): Promise<void> {
  const [node, native] = await Promise.all([playIn(CLOCKED_NODE_BUILD, play), playIn(CLOCKED_NATIVE_BUILD, play)]);
  expect(native).toEqual(node);
}
