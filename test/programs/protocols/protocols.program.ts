import { afterAll, test } from "vitest";
import { describeBuilds } from "../../manager/builds.ts";
import { endManagers } from "../../manager/manager-process.ts";
import { requiredProgram } from "../install/required-program.ts";
import { runCase, type Seen } from "./case-run.ts";
import { CRITERIA } from "./scene.ts";
import { SCENES } from "./scenes.ts";

afterAll(endManagers);

describeBuilds("what each criterion makes of", (build) => {
  test.concurrent.for(SCENES)("$protocol: a client that $client", { timeout: 120_000 }, async (scene, context) => {
    const { expect } = context;
    if (scene.needs !== undefined) await requiredProgram(scene.needs, context);
    const seen = await Promise.all(CRITERIA.map((criterion) => runCase(scene, criterion, build)));
    expect(Object.fromEntries(seen.map(({ criterion, ending }) => [criterion, ending])), told(seen)).toEqual(
      scene.endings,
    );
    for (const { criterion, ending, left, why } of seen) {
      // Who is cut off at the deadline is named; only a count of the app's own can be alone in holding the Pod.
      if (ending === "deadline") expect(left, `${criterion}: ${why}`).toBeGreaterThan(0);
    }
  });
});

function told(seen: readonly Seen[]): string {
  return seen
    .map((one) => `${one.criterion}: ${one.ending} after ${Math.round(one.releasedAfterMs)} ms, ${one.why}`)
    .join("; ");
}
