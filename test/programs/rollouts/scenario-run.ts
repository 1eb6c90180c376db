/** Runs one scenario in namespaces and checks its result. */
import { join } from "node:path";
import { type CaseContext, insideNamespaces } from "../harness/inside-namespaces.ts";
import type { FoundProgram } from "../install/program-of.ts";
import { planLoad } from "./load-plan.ts";
import { PROPAGATION_MS, type RolloutScenario } from "./rollout-scenarios.ts";
import { checkRollouts, type RolloutsCheck } from "./rollouts-checks.ts";
import type { RolloutsRequest, RolloutsResult } from "./rollouts-request.ts";

export const ENVOY = "envoy-1.40";

export async function runScenario(
  scenario: RolloutScenario,
  envoy: FoundProgram | undefined,
  context: CaseContext,
): Promise<RolloutsCheck> {
  const { driver, rollouts, settings } = scenario;
  const load = planLoad(scenario);
  const request: RolloutsRequest = { driver, envoy, rollouts, settings, load, propagationMs: PROPAGATION_MS };
  const script = join(import.meta.dirname, "rollouts-inside.ts");
  return checkRollouts(scenario, await insideNamespaces<RolloutsResult>(script, request, context));
}
