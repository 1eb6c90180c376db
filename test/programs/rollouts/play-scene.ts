/** Plays one scene on this machine and judges it. */
import type { FoundProgram } from "../install/program-of.ts";
import { loadPlan } from "./load-plan.ts";
import { PROPAGATION_MS, type RolloutScene } from "./rollout-scenes.ts";
import { type RolloutsVerdict, verdictOf } from "./rollouts-verdict.ts";
import { runRollouts } from "./run-rollouts.ts";

export const ENVOY = "envoy-1.40";

/** Rejects as {@link runRollouts}. @param envoy needed where the scene's driver is `envoy` */
export async function playScene(
  scene: RolloutScene,
  envoy: FoundProgram | undefined,
  stop: AbortSignal,
): Promise<RolloutsVerdict> {
  const { driver, rollouts, settings } = scene;
  const load = loadPlan(scene);
  return verdictOf(
    scene,
    await runRollouts({ driver, envoy, rollouts, settings, load, propagationMs: PROPAGATION_MS }, stop),
  );
}
