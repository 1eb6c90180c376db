/**
 * `node test/injection/random-pods.ts [--count=20000] [--seed=1]`: injects random Pods, a third of them with a forged manager,
 * applies the patch independently of the source, injects the Pods again and uninjects them.
 */
import { isDeepStrictEqual, parseArgs } from "node:util";
import fc from "fast-check";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { arbitraryPod } from "./arbitrary-pod.ts";
import { withForgedManager } from "./forged-manager.ts";
import { type InjectorInputs, inject } from "./injector-inputs.ts";
import { applyPatch, type PatchOperation } from "./json-patch-reader.ts";

const arbitraryInputs: fc.Arbitrary<InjectorInputs> = fc.record({
  facts: fc.record({
    apiServerVersion: fc.constantFrom("1.28", "1.29", "v1.31.2-eks-1", "1.32", "1.36+"),
    lowestKubeletVersion: fc.constantFrom("v1.28.9", "v1.31.0", undefined),
  }),
});

export const anyPod: fc.Arbitrary<readonly [pod: object, inputs: InjectorInputs]> = fc.tuple(
  fc.oneof({ weight: 2, arbitrary: arbitraryPod }, { weight: 1, arbitrary: withForgedManager(arbitraryPod) }),
  arbitraryInputs,
);

export type PodResult = {
  readonly outcome: "skipped" | "patched";
  readonly isForged: boolean;
  readonly violation: string;
};

/** Injects one Pod twice and uninjects it; `violation` is the first violated rule, or empty. */
export function resultOf(pod: object, inputs: InjectorInputs): PodResult {
  const received = JSON.parse(JSON.stringify(pod)) as object;
  const isForged = uninjectPod(received).kind === "uninjected";
  const first = inject(received, inputs);
  if (first.kind !== "patched") return { outcome: "skipped", isForged, violation: "" };
  const patch = JSON.parse(JSON.stringify(first.patch)) as PatchOperation[];
  const injectedPod = applyPatch(JSON.parse(JSON.stringify(pod)), patch);
  const resultWith = (violation: string): PodResult => ({ outcome: "patched", isForged, violation });
  if (!isDeepStrictEqual(injectedPod, first.pod)) return resultWith("the patch and the plan result in different Pods");
  const second = inject(injectedPod as object, { ...inputs, token: "f".repeat(32) });
  if (second.kind !== "unchanged" || second.reason !== "up_to_date")
    return resultWith("a second injection changes the Pod");
  const uninjection = uninjectPod(injectedPod as object);
  if (uninjection.kind !== "uninjected") return resultWith("the Pod cannot be uninjected");
  if (!isForged)
    return resultWith(isDeepStrictEqual(uninjection.pod, received) ? "" : "an uninjection does not restore the Pod");
  // From a forged record, the uninjection restores a Pod that never existed. The rules for any Pod also apply to this Pod.
  return resultWith(
    isRestorable(uninjection.pod, inputs) ? "" : "an uninjection of a forged manager does not restore a stable Pod",
  );
}

function isRestorable(pod: object, inputs: InjectorInputs): boolean {
  if (uninjectPod(pod).kind === "uninjected") return false;
  const outcome = inject(pod, inputs);
  if (outcome.kind !== "patched") return true;
  const uninjection = uninjectPod(outcome.pod);
  return uninjection.kind === "uninjected" && isDeepStrictEqual(uninjection.pod, pod);
}

export type Counts = {
  patchedCount: number;
  forgedCount: number;
  violations: Map<string, number>;
  example: object | undefined;
};

export function runRandomPods(count: number, seed: number): Counts {
  const counts: Counts = { patchedCount: 0, forgedCount: 0, violations: new Map(), example: undefined };
  for (const [pod, inputs] of fc.sample(anyPod, { numRuns: count, seed })) {
    const { outcome, isForged, violation } = resultOf(pod, inputs);
    if (outcome === "patched") counts.patchedCount += 1;
    if (outcome === "patched" && isForged) counts.forgedCount += 1;
    if (violation === "") continue;
    counts.violations.set(violation, (counts.violations.get(violation) ?? 0) + 1);
    counts.example ??= { pod, inputs };
  }
  return counts;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { count: { type: "string", default: "20000" }, seed: { type: "string", default: "1" } },
  });
  const counts = runRandomPods(Number(values.count), Number(values.seed));
  process.stdout.write(
    `${values.count} Pods of seed ${values.seed}: ${counts.patchedCount} patched, ${counts.forgedCount} of them with a forged manager\n`,
  );
  for (const [violation, times] of counts.violations) process.stdout.write(`${times} times ${violation}\n`);
  if (counts.example !== undefined) process.stdout.write(`${JSON.stringify(counts.example, null, 1)}\n`);
  if (counts.violations.size > 0) process.exitCode = 1;
}
