/** Runs, as PID 1 of a new PID namespace, a rolling update of a real program for each variant, one after the other. */
import { join } from "node:path";
import { admitPod } from "../../../src/demo/rollout/admission-client.ts";
import { replicasOf, servicePort, withAnnotations, withSleepHooks } from "../../../src/demo/rollout/deployment.ts";
import { runVariant } from "../../../src/demo/variant.ts";
import { type ClusterContext, runClusterScript } from "./namespace-script.ts";
import { overWaitSeconds } from "./over-wait.ts";
import { collectEndFacts } from "./pod-end-facts.ts";
import {
  type RollOutcome,
  type RollRequest,
  type RollResult,
  type RollVariant,
  UPSTREAM_ADDRESS,
} from "./roll-request.ts";
import { waitUntilAccepting } from "./until.ts";

const PROPAGATION_MS = 2_000;
const SAMPLE_APP = join(import.meta.dirname, "../../../src/demo/sample-app.ts");

await runClusterScript(async (request: RollRequest, cluster): Promise<RollResult> => {
  const [host = "", port = ""] = UPSTREAM_ADDRESS.split(":");
  const upstream = cluster.processes.start({
    argv: [process.execPath, SAMPLE_APP],
    environment: { ...cluster.imageEnvironment, LISTEN_ON: host, PORT: port },
    onLine: (line) => process.stderr.write(`upstream: ${line}\n`),
  });
  // A proxy may be Ready before its upstream accepts connections.
  await waitUntilAccepting(host, Number(port), upstream.isRunning);
  const outcomes: Record<string, RollOutcome> = {};
  for (const variant of request.variants) outcomes[variant.name] = await rollVariant(request, variant, cluster);
  return { manager: cluster.manager, outcomes };
});

async function rollVariant(request: RollRequest, variant: RollVariant, cluster: ClusterContext): Promise<RollOutcome> {
  const { load } = variant;
  const { servers } = cluster;
  const annotated = withAnnotations(request.deployment, variant.annotations ?? {});
  const deployment = variant.sleepSeconds === undefined ? annotated : withSleepHooks(annotated, variant.sleepSeconds);
  const { counts, endedPods } = await runVariant(
    {
      deployment,
      replicas: replicasOf(deployment),
      port: servicePort(deployment),
      propagationMs: PROPAGATION_MS,
      loadOptions: { ...load, slowPath: "/slow?ms=" },
      hasLongRequest: false,
    },
    {
      ...cluster,
      writeSlice: variant.lastcall ? servers.writeSlice : undefined,
      admit: async (pod) => (variant.lastcall ? (await admitPod(pod, servers.webhook)).pod : pod),
    },
  );
  const ends = endedPods.map((end) => ({
    ...collectEndFacts(end),
    overWaitSeconds: variant.lastcall ? overWaitSeconds(end) : 0,
  }));
  return { counts, ends };
}
