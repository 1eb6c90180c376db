/** Checks that the work of an admission, counted in steps, is at most linear in the number of one element of the Pod. */
import { expect } from "vitest";
import { uninjectPod } from "../../src/injection/uninject.ts";
import { countSteps } from "./counted-steps.ts";
import { type InjectorInputs, inject } from "./injector-inputs.ts";
import type { Shape } from "./linear-shapes.ts";

/** An injection creates up to four drafts of its plan, if the record of original values exceeds its size limit. */
const MAX_DRAFTS = 4;
/** Between the two largest sizes the number of drafts does not change. Numbers with more digits may add a tenth of the work. */
const TOLERANCE = 1.1;

/** Measures two injections and an uninjection, without the limits on Pods, which would refuse large Pods. */
export function expectLinearWork({ title, createPod, inputs }: Shape, sizes: readonly number[]): void {
  const firstSteps: number[] = [];
  const secondSteps: number[] = [];
  const uninjectionSteps: number[] = [];
  // Causes all initialization, which would otherwise count as work for the first Pod.
  inject(createPod(1), inputs);
  for (const size of sizes) {
    const received = createPod(size);
    let injectedPod = received;
    firstSteps.push(
      countSteps(() => {
        const outcome = inject(received, withoutLimits(inputs));
        if (outcome.kind === "patched") injectedPod = outcome.pod;
      }),
    );
    secondSteps.push(countSteps(() => inject(injectedPod, withoutLimits(inputs))));
    uninjectionSteps.push(countSteps(() => uninjectPod(injectedPod)));
  }
  expectLinear(`${title}, first injection`, sizes, firstSteps);
  expectLinear(`${title}, second injection`, sizes, secondSteps);
  expectLinear(`${title}, uninjection`, sizes, uninjectionSteps);
}

function expectLinear(title: string, sizes: readonly number[], steps: readonly number[]): void {
  const message = `${title}: ${steps.join(", ")} steps for ${sizes.join(", ")}`;
  for (const [at, size] of sizes.entries()) {
    if (at === 0) continue;
    const growth = size / (sizes[at - 1] ?? 1);
    const maximumGrowth = growth * (at === sizes.length - 1 ? TOLERANCE : MAX_DRAFTS);
    expect((steps[at] ?? 0) / (steps[at - 1] ?? 1), message).toBeLessThan(maximumGrowth);
  }
}

function withoutLimits(inputs: InjectorInputs | undefined): InjectorInputs {
  return { ...inputs, request: { ...inputs?.request, limits: { containers: Infinity, patchBytes: Infinity } } };
}
