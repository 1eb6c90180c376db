/** Runs one case: starts a Pod with an Envoy and its clients, deletes the Pod and returns the measured end. */
import { realClock } from "../../../src/demo/clock.ts";
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";
import { until } from "../harness/until.ts";
import { type EnvoyCase, nameOf } from "./envoy-cases.ts";
import { type EnvoyResult, systemOf } from "./envoy-result.ts";
import { type Clients, dueMs, type Peers, PROPAGATION_MS } from "./envoy-scenario.ts";
import { type GatewayParts, gatewayPod } from "./gateway-pod.ts";
import { measureEnd } from "./measure-end.ts";
import type { Testbed, TestPod } from "./testbed.ts";

type CaseParts = {
  readonly testbed: Testbed;
  readonly managerProgram: readonly string[];
} & Peers &
  Pick<GatewayParts, "envoy" | "folder" | "certificate">;

const STEADY_MS = 2_000;
const LEAD_MS = 100;

export async function runEnvoy(one: EnvoyCase, parts: CaseParts): Promise<EnvoyResult> {
  const { testbed, envoy, folder, certificate, http3, grpcio } = parts;
  const { scenario } = one;
  const shape = { envoy, folder, certificate, upstream: testbed.upstream };
  const manifest = await gatewayPod({ scenario, name: nameOf(one), ...shape });
  const testPod = await testbed.startPod(manifest, parts.managerProgram);
  try {
    await until("the Pod is ready", () => isReady(testPod.pod), testPod.pod);
    const place = { clock: realClock, sourceAddress: testbed.network.trafficAddress, upstream: testbed.upstream };
    const clients = await scenario.start({ ...place, pod: testPod.pod.address, http3, grpcio });
    await realClock.wait(scenario.heavy === true ? STEADY_MS : LEAD_MS);
    return await endPod(one, testPod, clients);
  } finally {
    await testPod.kill();
  }
}

function isReady(pod: RunningPod): boolean {
  return pod.isReady() && pod.events.some(({ container, type }) => container === "lastcall" && type === "line");
}

async function endPod(
  { scenario, version, manager }: EnvoyCase,
  testPod: TestPod,
  clients: Clients,
): Promise<EnvoyResult> {
  const { end, failedBefore } = await measureEnd({
    testPod,
    clients,
    container: "envoy",
    propagationMs: scenario.propagationMs ?? PROPAGATION_MS,
    dueMs: (facts) => dueMs(scenario, facts),
  });
  // Envoy cuts its clients when it stops. Only a session that stays to the deadline may be cut.
  const stays = scenario.ends === "deadline";
  return {
    kind: "envoy",
    system: systemOf({ scenario: scenario.key, version, manager }),
    scenario: scenario.key,
    version,
    manager,
    ...end,
    failures: stays ? end.failures.slice(0, failedBefore) : end.failures,
    refused: clients.counts.refused ?? 0,
    cut: stays ? end.failures.length - failedBefore : 0,
  };
}
