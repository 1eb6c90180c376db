/** Checks that the work of an admission, in steps, grows no faster than the Pod. */
import { expect } from "vitest";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { stepsOf } from "./counted-steps.ts";
import { type Given, inject } from "./injector-inputs.ts";
import type { Shape } from "./linear-shapes.ts";

/** A plan that exceeds the record's limit is made up to four times. */
const DRAFTS = 4;
/** No such limit lies between the last two sizes. A tenth is for numbers that grow by a digit. */
const NOISE = 1.1;

/** Covers both passes and the uninjection, without the limits that refuse such Pods. */
export function expectLinearWork({ of, pod, given }: Shape, sizes: readonly number[]): void {
  const first: number[] = [];
  const second: number[] = [];
  const back: number[] = [];
  // Work that is done once per process does not count as work of the first Pod.
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
  expectLinear(`${of}, uninjection`, sizes, back);
}

function expectLinear(title: string, sizes: readonly number[], steps: readonly number[]): void {
  const shown = `${title}: ${steps.join(", ")} steps for ${sizes.join(", ")}`;
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
