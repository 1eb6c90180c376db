/** One rolling update of a case, on the demo's own Pods, network and clients. */
import { admitPod } from "../../../src/demo/rollout/admission-client.ts";
import { annotated, replicasOf, servicePort } from "../../../src/demo/rollout/deployment.ts";
import type { Servers } from "../../../src/demo/servers.ts";
import { runVariant, type VariantPorts } from "../../../src/demo/variant.ts";
import { overWaitSeconds } from "./over-wait.ts";
import { factsOf } from "./pod-end-facts.ts";
import type { RollOutcome, RollRequest, RollVariant } from "./roll-request.ts";

export type RollPorts = Omit<VariantPorts, "admit" | "writeSlice"> & { readonly servers: Servers };

export async function rollVariant(request: RollRequest, variant: RollVariant, ports: RollPorts): Promise<RollOutcome> {
  const { load } = variant;
  const { servers } = ports;
  const deployment = annotated(request.deployment, variant.annotations ?? {});
  const { tally, ended } = await runVariant(
    {
      deployment,
      replicas: replicasOf(deployment),
      port: servicePort(deployment),
      propagationMs: request.propagationMs,
      load: { ...load, slowPath: (ms) => `${load.slowPath}${ms}` },
      longRequest: false,
    },
    variant.lastcall
      ? { ...ports, writeSlice: servers.writeSlice, admit: async (pod) => (await admitPod(pod, servers.webhook)).pod }
      : { ...ports, writeSlice: undefined, admit: (pod) => Promise.resolve(pod) },
  );
  const ends = ended.map((end) => ({ ...factsOf(end), overWaitSeconds: variant.lastcall ? overWaitSeconds(end) : 0 }));
  return { tally, ends };
}
