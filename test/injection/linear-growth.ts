/** Whether the work of an admission grows no faster than the Pod, in steps. */
import { expect } from "vitest";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { stepsOf } from "./counted-steps.ts";
import { type Given, inject } from "./given.ts";
import type { Shape } from "./linear-shapes.ts";

/** What exceeds the record's limit is planned up to four times. */
const DRAFTS = 4;
/** Between the last two sizes no such limit lies. A tenth is for numbers that grow by a digit. */
const NOISE = 1.1;

/** In both passes and on the way back, without the limits that keep such Pods away. */
export function expectLinearWork({ of, pod, given }: Shape, sizes: readonly number[]): void {
  const first: number[] = [];
  const second: number[] = [];
  const back: number[] = [];
  // What is done once in a process is not counted as work of the first Pod.
  inject(pod(1), given);
  for (const size of sizes) {
    const received = pod(size);
    let after = received;
    first.push(
      stepsOf(() => {
        const outcome = inject(received, unlimited(given));
        if (outcome.kind === "patched") after = outcome.pod;
      }),
    );
    second.push(stepsOf(() => inject(after, unlimited(given))));
    back.push(stepsOf(() => uninjectPod(after)));
  }
  expectLinear(`${of}, first pass`, sizes, first);
  expectLinear(`${of}, second pass`, sizes, second);
  expectLinear(`${of}, way back`, sizes, back);
}

function expectLinear(says: string, sizes: readonly number[], steps: readonly number[]): void {
  const shown = `${says}: ${steps.join(", ")} steps for ${sizes.join(", ")}`;
  for (const [at, size] of sizes.entries()) {
    if (at === 0) continue;
    const growth = size / (sizes[at - 1] ?? 1);
    const most = growth * (at === sizes.length - 1 ? NOISE : DRAFTS);
    expect((steps[at] ?? 0) / (steps[at - 1] ?? 1), shown).toBeLessThan(most);
  }
}

function unlimited(given: Given | undefined): Given {
  return { ...given, request: { ...given?.request, limits: { containers: Infinity, patchBytes: Infinity } } };
}
