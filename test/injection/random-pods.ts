/**
 * `node test/injection/random-pods.ts [--count=20000] [--seed=1]`: random Pods, a third of them with a forged manager,
 * through an injection, an independent reader of its patch, a second pass and the way back.
 */
import { isDeepStrictEqual, parseArgs } from "node:util";
import fc from "fast-check";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { arbitraryPod } from "./arbitrary-pod.ts";
import { withForgedManager } from "./forged-manager.ts";
import { type Given, inject } from "./injector-inputs.ts";
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

export type PodResult = {
  readonly outcome: "skipped" | "patched";
  readonly isForged: boolean;
  readonly wrong: string;
};

/** Injects one Pod twice and uninjects it; `wrong` names the first broken rule. */
export function resultOf(pod: object, setting: Given): PodResult {
  const received = JSON.parse(JSON.stringify(pod)) as object;
  const isForged = uninjectPod(received).kind === "uninjected";
  const first = inject(received, setting);
  if (first.kind !== "patched") return { outcome: "skipped", isForged, wrong: "" };
  const patch = JSON.parse(JSON.stringify(first.patch)) as Written[];
  const changed = patched(JSON.parse(JSON.stringify(pod)), patch);
  const failed = (wrong: string): PodResult => ({ outcome: "patched", isForged, wrong });
  if (!isDeepStrictEqual(changed, first.pod)) return failed("the patch gives another Pod than the plan");
  const second = inject(changed as object, { ...setting, token: "f".repeat(32) });
  if (second.kind !== "unchanged" || second.reason !== "up_to_date") return failed("the second pass changes it again");
  const back = uninjectPod(changed as object);
  if (back.kind !== "uninjected") return failed("it cannot be uninjected");
  if (!isForged) return failed(isDeepStrictEqual(back.pod, received) ? "" : "an uninjection does not restore the Pod");
  // A forged record is all there is to restore from; from the restored Pod on the rules hold.
  return failed(comesBack(back.pod, setting) ? "" : "uninjections of a forged manager do not end");
}

function comesBack(pod: object, setting: Given): boolean {
  if (uninjectPod(pod).kind === "uninjected") return false;
  const outcome = inject(pod, setting);
  if (outcome.kind !== "patched") return true;
  const back = uninjectPod(outcome.pod);
  return back.kind === "uninjected" && isDeepStrictEqual(back.pod, pod);
}

export type Counts = { patched: number; forged: number; wrong: Map<string, number>; example: object | undefined };

export function runRandomPods(count: number, seed: number): Counts {
  const counts: Counts = { patched: 0, forged: 0, wrong: new Map(), example: undefined };
  for (const [pod, setting] of fc.sample(anyPod, { numRuns: count, seed })) {
    const { outcome, isForged, wrong } = resultOf(pod, setting);
    if (outcome === "patched") counts.patched += 1;
    if (outcome === "patched" && isForged) counts.forged += 1;
    if (wrong === "") continue;
    counts.wrong.set(wrong, (counts.wrong.get(wrong) ?? 0) + 1);
    counts.example ??= { pod, setting };
  }
  return counts;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { count: { type: "string", default: "20000" }, seed: { type: "string", default: "1" } },
  });
  const counts = runRandomPods(Number(values.count), Number(values.seed));
  process.stdout.write(
    `${values.count} Pods of seed ${values.seed}: ${counts.patched} patched, ${counts.forged} of them with a forged manager\n`,
  );
  for (const [wrong, times] of counts.wrong) process.stdout.write(`${times} times ${wrong}\n`);
  if (counts.example !== undefined) process.stdout.write(`${JSON.stringify(counts.example, null, 1)}\n`);
  if (counts.wrong.size > 0) process.exitCode = 1;
}
