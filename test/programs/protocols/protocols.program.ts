import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { describeBuilds, NATIVE_BUILD } from "../../manager/builds.ts";
import { endManagers } from "../../manager/manager-process.ts";
import { requireProgram, skipCase } from "../install/program-of.ts";
import { runScenario, type ScenarioResult } from "./protocol-run.ts";
import { CRITERIA, type Criterion, type Ending, type Scenario } from "./protocol-scenario.ts";
import { SCENARIOS } from "./protocol-scenarios.ts";
import { insertProtocolTable, type MeasuredScenario } from "./protocols-page.ts";

const PAGE = new URL("../../../docs/protocols.md", import.meta.url).pathname;

const measuredEndings = new Map<Scenario, Map<Criterion, Ending>>();

afterAll(endManagers);

describeBuilds("the drain ends as expected with each criterion of drained-when", (build) => {
  // Both builds have the same source. If there is a native build, it runs all criteria, and the Node build runs only `quiet`, the
  // criterion with the most rules.
  const criteria = build === NATIVE_BUILD || NATIVE_BUILD.command === "" ? CRITERIA : (["quiet"] as const);

  for (const scenario of SCENARIOS) {
    // test.for would shorten the values in titles.
    test.concurrent(`${scenario.protocol}: a client that ${scenario.behaviour}`, {
      timeout: 120_000,
    }, async (context) => {
      if (scenario.requiredProgram !== undefined) await requireProgram(scenario.requiredProgram, context);
      const results = await Promise.all(criteria.map((criterion) => runScenario(scenario, criterion, build)));
      const endingByCriterion = measuredEndings.get(scenario) ?? new Map<Criterion, Ending>();
      measuredEndings.set(scenario, endingByCriterion);
      for (const result of results) {
        endingByCriterion.set(result.criterion, result.ending);
        const expected = scenario.endings[result.criterion];
        const allowed = expected === "unsure" ? ["cut", "quiet", "deadline"] : [expected];
        expect(allowed, describeResult(result)).toContain(result.ending);
        if (result.ending === "deadline") expect(result.leftTotal, describeResult(result)).toBeGreaterThan(0);
      }
    });
  }
});

test("docs/protocols.md lists the measured endings (written with -u)", async (context) => {
  const rows = SCENARIOS.map(buildMeasuredRow);
  if (rows.includes(undefined)) skipCase("not every scenario ran", context);
  const completeRows = rows.filter((row) => row !== undefined);
  await expect(insertProtocolTable(readFileSync(PAGE, "utf8"), completeRows)).toMatchFileSnapshot(PAGE);
});

function buildMeasuredRow(scenario: Scenario): MeasuredScenario | undefined {
  const findEnding = (criterion: Criterion) =>
    scenario.endings[criterion] === "unsure" ? "unsure" : measuredEndings.get(scenario)?.get(criterion);
  const [quiet, connections, requests, notified] = CRITERIA.map(findEnding);
  if (quiet === undefined || connections === undefined || requests === undefined || notified === undefined)
    return undefined;
  return {
    protocol: scenario.protocol,
    behaviour: scenario.behaviour,
    endings: { quiet, connections, requests, notified },
  };
}

function describeResult({ criterion, ending, releasedAfterMs, why }: ScenarioResult): string {
  return `${criterion}: ${ending} after ${Math.round(releasedAfterMs)} ms: ${why}`;
}
