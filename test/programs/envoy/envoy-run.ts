/** Runs one case: starts a Pod with an Envoy and its clients, deletes the Pod and returns its measured drain. */
import { realClock } from "../../../src/demo/clock.ts";
import type { RunningPod } from "../../../src/demo/pods/running-pod.ts";
import { waitUntil } from "../harness/until.ts";
import { caseName, type EnvoyCase } from "./envoy-cases.ts";
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

const HEAVY_WARM_UP_MS = 2_000;
const WARM_UP_MS = 100;

export async function runEnvoy(envoyCase: EnvoyCase, parts: CaseParts): Promise<EnvoyResult> {
  const { testbed, envoy, folder, certificate, http3, grpcio } = parts;
  const { scenario } = envoyCase;
  const envoyOptions = { envoy, folder, certificate, upstream: testbed.upstream };
  const manifest = await gatewayPod({ scenario, name: caseName(envoyCase), ...envoyOptions });
  const testPod = await testbed.startPod(manifest, parts.managerProgram);
  try {
    await waitUntil("the Pod is ready", () => isReady(testPod.pod), testPod.pod);
    const clientEnvironment = {
      clock: realClock,
      sourceAddress: testbed.network.trafficAddress,
      upstream: testbed.upstream,
    };
    const clients = await scenario.start({ ...clientEnvironment, pod: testPod.pod.address, http3, grpcio });
    await realClock.wait(scenario.heavy === true ? HEAVY_WARM_UP_MS : WARM_UP_MS);
    return await endPod(envoyCase, testPod, clients);
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
  const { end, failuresBeforeHookResponse } = await measureEnd({
    testPod,
    clients,
    container: "envoy",
    propagationMs: scenario.propagationMs ?? PROPAGATION_MS,
    dueMs: (facts) => dueMs(scenario, facts),
  });
  // Envoy closes all connections when it stops. Only a scenario whose drain ends at the deadline may lose a session then.
  const endsAtDeadline = scenario.ending === "deadline";
  return {
    kind: "envoy",
    system: systemOf({ scenario: scenario.key, version, manager }),
    scenario: scenario.key,
    version,
    manager,
    ...end,
    failures: endsAtDeadline ? end.failures.slice(0, failuresBeforeHookResponse) : end.failures,
    refused: clients.counts.refused ?? 0,
    cut: endsAtDeadline ? end.failures.length - failuresBeforeHookResponse : 0,
  };
}
