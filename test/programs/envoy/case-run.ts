/** Plays one case: a Pod with an Envoy, its clients, its end under the kubelet's rules, and what came of it. */
import { realClock } from "../../../src/demo/clock.ts";
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";
import { until } from "../harness/until.ts";
import { type EnvoyCase, nameOf } from "./cases.ts";
import { type EnvoyResult, systemOf } from "./envoy-result.ts";
import { type GatewayParts, gatewayPod } from "./gateway-pod.ts";
import { measureEnd } from "./measured-end.ts";
import { type Clients, dueMs, LAG_MS, type Peers } from "./scene.ts";
import type { Stage, StagedPod } from "./stage.ts";

type CaseParts = {
  readonly stage: Stage;
  readonly managerProgram: readonly string[];
} & Peers &
  Pick<GatewayParts, "envoy" | "folder" | "certificate">;

/** A load reaches its pace; anybody else only has to be there. */
const STEADY_MS = 2_000;
const LEAD_MS = 100;

export async function runCase(one: EnvoyCase, parts: CaseParts): Promise<EnvoyResult> {
  const { stage, envoy, folder, certificate, http3, grpcio } = parts;
  const { scene } = one;
  const shape = { envoy, folder, certificate, upstream: stage.upstream };
  const manifest = await gatewayPod({ scene, name: nameOf(one), ...shape });
  const staged = await stage.startPod(manifest, parts.managerProgram);
  try {
    await until("the Pod is ready", () => isReady(staged.pod), staged.pod);
    const place = { clock: realClock, from: stage.network.trafficAddress, other: stage.upstream };
    const clients = await scene.start({ ...place, pod: staged.pod.address, http3, grpcio });
    await realClock.wait(scene.heavy === true ? STEADY_MS : LEAD_MS);
    return await ended(one, staged, clients);
  } finally {
    await staged.kill();
  }
}

function isReady(pod: RunningPod): boolean {
  return pod.isReady() && pod.events.some(({ container, type }) => container === "lastcall" && type === "line");
}

async function ended(
  { scene, version, manager }: EnvoyCase,
  staged: StagedPod,
  clients: Clients,
): Promise<EnvoyResult> {
  const { end, failedBefore } = await measureEnd({
    staged,
    clients,
    container: "envoy",
    lagMs: scene.lagMs ?? LAG_MS,
    dueMs: (facts) => dueMs(scene, facts),
  });
  // After the release the end of Envoy cuts clients, and only a session that stays to the deadline may be.
  const stays = scene.ends === "deadline";
  return {
    kind: "envoy",
    system: systemOf({ scene: scene.key, version, manager }),
    scene: scene.key,
    version,
    manager,
    ...end,
    failures: stays ? end.failures.slice(0, failedBefore) : end.failures,
    refused: clients.tally.refused ?? 0,
    cut: stays ? end.failures.length - failedBefore : 0,
  };
}
