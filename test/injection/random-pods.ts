/**
 * `node test/injection/random-pods.ts [--count=20000] [--seed=1]`: random Pods, a third of them with a forged manager,
 * through an injection, an independent reader of its patch, a second pass and the way back.
 */
import { isDeepStrictEqual, parseArgs } from "node:util";
import fc from "fast-check";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { arbitraryPod } from "./arbitrary-pod.ts";
import { withForgedManager } from "./forged-manager.ts";
import { type Given, inject } from "./given.ts";
import { patched, type Written } from "./json-patch-reader.ts";

const given: fc.Arbitrary<Given> = fc.record({
  facts: fc.record({
    apiServerVersion: fc.constantFrom("1.28", "1.29", "v1.31.2-eks-1", "1.32", "1.36+"),
    lowestKubeletVersion: fc.constantFrom("v1.28.9", "v1.31.0", undefined),
  }),
});

export const anyPod: fc.Arbitrary<readonly [pod: object, given: Given]> = fc.tuple(
  fc.oneof({ weight: 2, arbitrary: arbitraryPod }, { weight: 1, arbitrary: withForgedManager(arbitraryPod) }),
  given,
);

export type Verdict = {
  readonly outcome: "left alone" | "patched";
  readonly isForged: boolean;
  readonly wrong: string;
};

/** What is wrong with the way of one Pod; empty when nothing is. */
export function verdictOn(pod: object, setting: Given): Verdict {
  const received = JSON.parse(JSON.stringify(pod)) as object;
  const isForged = uninjectPod(received).kind === "uninjected";
  const first = inject(received, setting);
  if (first.kind !== "patched") return { outcome: "left alone", isForged, wrong: "" };
  const patch = JSON.parse(JSON.stringify(first.patch)) as Written[];
  const changed = patched(JSON.parse(JSON.stringify(pod)), patch);
  const says = (wrong: string): Verdict => ({ outcome: "patched", isForged, wrong });
  if (!isDeepStrictEqual(changed, first.pod)) return says("the patch makes another Pod than the plan did");
  const second = inject(changed as object, { ...setting, token: "f".repeat(32) });
  if (second.kind !== "unchanged" || second.reason !== "up_to_date") return says("the second pass changes it again");
  const back = uninjectPod(changed as object);
  if (back.kind !== "uninjected") return says("it cannot be taken back");
  if (!isForged)
    return says(isDeepStrictEqual(back.pod, received) ? "" : "taking it back does not give the Pod before it");
  // What a forger says was there before is all there is to go back to: but from there on the law holds.
  return says(comesBack(back.pod, setting) ? "" : "the way back from a forged manager does not end");
}

function comesBack(pod: object, setting: Given): boolean {
  if (uninjectPod(pod).kind === "uninjected") return false;
  const outcome = inject(pod, setting);
  if (outcome.kind !== "patched") return true;
  const back = uninjectPod(outcome.pod);
  return back.kind === "uninjected" && isDeepStrictEqual(back.pod, pod);
}

export type Tally = { patched: number; forged: number; wrong: Map<string, number>; example: object | undefined };

export function tallyOf(count: number, seed: number): Tally {
  const tally: Tally = { patched: 0, forged: 0, wrong: new Map(), example: undefined };
  for (const [pod, setting] of fc.sample(anyPod, { numRuns: count, seed })) {
    const { outcome, isForged, wrong } = verdictOn(pod, setting);
    if (outcome === "patched") tally.patched += 1;
    if (outcome === "patched" && isForged) tally.forged += 1;
    if (wrong === "") continue;
    tally.wrong.set(wrong, (tally.wrong.get(wrong) ?? 0) + 1);
    tally.example ??= { pod, setting };
  }
  return tally;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { count: { type: "string", default: "20000" }, seed: { type: "string", default: "1" } },
  });
  const tally = tallyOf(Number(values.count), Number(values.seed));
  process.stdout.write(
    `${values.count} Pods of seed ${values.seed}: ${tally.patched} patched, ${tally.forged} of them with a forged manager\n`,
  );
  for (const [wrong, times] of tally.wrong) process.stdout.write(`${times} times ${wrong}\n`);
  if (tally.example !== undefined) process.stdout.write(`${JSON.stringify(tally.example, null, 1)}\n`);
  if (tally.wrong.size > 0) process.exitCode = 1;
}
