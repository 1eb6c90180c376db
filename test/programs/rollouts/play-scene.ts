/** Plays one scene on this machine and judges it. */
import { join } from "node:path";
import { insideNamespaces, type Stoppable } from "../harness/inside-namespaces.ts";
import type { FoundProgram } from "../install/program-of.ts";
import { loadPlan } from "./load-plan.ts";
import { PROPAGATION_MS, type RolloutScene } from "./rollout-scenes.ts";
import type { RolloutsRequest, RolloutsResult } from "./rollouts-request.ts";
import { type RolloutsVerdict, verdictOf } from "./rollouts-verdict.ts";

export const ENVOY = "envoy-1.40";

/** Rejects as {@link insideNamespaces}. @param envoy needed where the scene's driver is `envoy` */
export async function playScene(
  scene: RolloutScene,
  envoy: FoundProgram | undefined,
  context: Stoppable,
): Promise<RolloutsVerdict> {
  const { driver, rollouts, settings } = scene;
  const load = loadPlan(scene);
  const request: RolloutsRequest = { driver, envoy, rollouts, settings, load, propagationMs: PROPAGATION_MS };
  const script = join(import.meta.dirname, "rollouts-inside.ts");
  return verdictOf(scene, await insideNamespaces<RolloutsResult>(script, request, context));
}
