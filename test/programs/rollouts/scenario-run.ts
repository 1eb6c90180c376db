/** Runs one scenario in its own network namespaces and checks its result. */
import { join } from "node:path";
import { type CaseContext, insideNamespaces } from "../harness/inside-namespaces.ts";
import type { FoundProgram } from "../install/program-of.ts";
import { planLoad } from "./load-plan.ts";
import type { RolloutScenario } from "./rollout-scenarios.ts";
import { checkRollouts, type RolloutsCheck } from "./rollouts-checks.ts";
import type { RolloutsRequest, RolloutsResult } from "./rollouts-request.ts";

export const ENVOY = "envoy-1.40";

export async function runScenario(
  scenario: RolloutScenario,
  envoy: FoundProgram | undefined,
  context: CaseContext,
): Promise<RolloutsCheck> {
  const { driver, shutdown, ending, rollouts, waitsForEnds, settings, propagationMs } = scenario;
  const load = planLoad(scenario);
  const endOptions = { shutdown, ending, waitsForEnds };
  const request: RolloutsRequest = { driver, ...endOptions, envoy, rollouts, settings, load, propagationMs };
  const script = join(import.meta.dirname, "rollouts-inside.ts");
  return checkRollouts(scenario, await insideNamespaces<RolloutsResult>(script, request, context));
}
