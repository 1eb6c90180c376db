/** Runs a scenario on the manager's Node build, the reference, and its native build, and compares the two transcripts. */
import { expect } from "vitest";
import { CLOCKED_NATIVE_BUILD, CLOCKED_NODE_BUILD } from "../builds.ts";
import type { Scenario } from "./scenario.ts";
import { transcriptOf } from "./simulated-pod.ts";

export async function compare({ play }: Scenario): Promise<void> {
  const [node, native] = await Promise.all([
    transcriptOf(CLOCKED_NODE_BUILD, play),
    transcriptOf(CLOCKED_NATIVE_BUILD, play),
  ]);
  expect(native).toEqual(node);
}
