import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { describeBuilds, NATIVE_BUILD } from "../../manager/builds.ts";
import { endManagers } from "../../manager/manager-process.ts";
import { missing, requiredProgram } from "../install/program-of.ts";
import { runCase, type Seen } from "./case-run.ts";
import { type PlayedScene, withProtocols } from "./protocols-page.ts";
import { CRITERIA, type Criterion, type Ending, type Scene } from "./scene.ts";
import { SCENES } from "./scenes.ts";

const PAGE = new URL("../../../docs/protocols.md", import.meta.url).pathname;

/** What the last build made of each scene. */
const played = new Map<Scene, Map<Criterion, Ending>>();

afterAll(endManagers);

describeBuilds("what each criterion makes of", (build) => {
  // The two builds share their source: one plays the whole table, the other what is judged most finely.
  const criteria = build === NATIVE_BUILD || NATIVE_BUILD.command === "" ? CRITERIA : (["quiet"] as const);

  for (const scene of SCENES) {
    // Not test.for: it shortens what stands in a title.
    test.concurrent(`${scene.protocol}: a client that ${scene.client}`, { timeout: 120_000 }, async (context) => {
      if (scene.needs !== undefined) await requiredProgram(scene.needs, context);
      const seen = await Promise.all(criteria.map((criterion) => runCase(scene, criterion, build)));
      const all = played.get(scene) ?? new Map<Criterion, Ending>();
      played.set(scene, all);
      for (const one of seen) {
        all.set(one.criterion, one.ending);
        const expected = scene.endings[one.criterion];
        const allowed = expected === "unsure" ? ["cut", "quiet", "deadline"] : [expected];
        expect(allowed, inWords(one)).toContain(one.ending);
        // Who is cut off at the deadline is named.
        if (one.ending === "deadline") expect(one.left, inWords(one)).toBeGreaterThan(0);
      }
    });
  }
});

test("the page of the docs says what was seen; -u writes it", async (context) => {
  const rows = SCENES.map(rowOf);
  if (rows.includes(undefined)) missing("not every scene was played", context);
  const complete = rows.filter((row) => row !== undefined);
  await expect(withProtocols(readFileSync(PAGE, "utf8"), complete)).toMatchFileSnapshot(PAGE);
});

function rowOf(scene: Scene): PlayedScene | undefined {
  const seen = (criterion: Criterion) =>
    scene.endings[criterion] === "unsure" ? "unsure" : played.get(scene)?.get(criterion);
  const [quiet, connections, requests, told] = CRITERIA.map(seen);
  if (quiet === undefined || connections === undefined || requests === undefined || told === undefined)
    return undefined;
  return { protocol: scene.protocol, client: scene.client, endings: { quiet, connections, requests, told } };
}

function inWords({ criterion, ending, releasedAfterMs, why }: Seen): string {
  return `${criterion}: ${ending} after ${Math.round(releasedAfterMs)} ms: ${why}`;
}
