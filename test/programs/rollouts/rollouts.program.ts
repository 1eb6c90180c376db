/** Runs 20 rollouts under the load of all protocols together; `npm run bench:rollouts` runs 20 of each protocol. */
import { describe, expect, test } from "vitest";
import { requireProgram } from "../install/program-of.ts";
import { recordResult } from "../results/record-result.ts";
import { scenarioName, TEST_SCENARIOS } from "./rollout-scenarios.ts";
import { ENVOY, runScenario } from "./scenario-run.ts";

describe("a Deployment with repeated rollouts at 500 requests a second", () => {
  for (const scenario of TEST_SCENARIOS) {
    const behaviour = scenario.promised ? "loses no request" : "may lose requests of clients that never close";
    test(`${behaviour}: ${scenarioName(scenario)}`, { timeout: 300_000 }, async (context) => {
      const envoy = scenario.driver === "envoy" ? await requireProgram(ENVOY, context) : undefined;
      const { line, failures } = await runScenario(scenario, envoy, context);
      await recordResult(line);
      expect(failures).toEqual([]);
    });
  }
});
