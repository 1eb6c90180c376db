import { afterAll, test } from "vitest";
import { describeBuilds, NATIVE_BUILD } from "../../manager/builds.ts";
import { endManagers } from "../../manager/manager-process.ts";
import { requiredProgram } from "../install/required-program.ts";
import { runCase, type Seen } from "./case-run.ts";
import { CRITERIA } from "./scene.ts";
import { SCENES } from "./scenes.ts";

afterAll(endManagers);

describeBuilds("what each criterion makes of", (build) => {
  // The two builds share their source: one plays the whole table, the other what is judged most finely.
  const criteria = build === NATIVE_BUILD || NATIVE_BUILD.command === "" ? CRITERIA : (["quiet"] as const);

  test.concurrent.for(SCENES)("$protocol: a client that $client", { timeout: 120_000 }, async (scene, context) => {
    const { expect } = context;
    if (scene.needs !== undefined) await requiredProgram(scene.needs, context);
    const seen = await Promise.all(criteria.map((criterion) => runCase(scene, criterion, build)));
    for (const one of seen) {
      const expected = scene.endings[one.criterion];
      expect(expected === "unsure" ? ["cut", "quiet", "deadline"] : [expected], inWords(one)).toContain(one.ending);
      // Who is cut off at the deadline is named.
      if (one.ending === "deadline") expect(one.left, inWords(one)).toBeGreaterThan(0);
    }
  });
});

function inWords({ criterion, ending, releasedAfterMs, why }: Seen): string {
  return `${criterion}: ${ending} after ${Math.round(releasedAfterMs)} ms: ${why}`;
}
