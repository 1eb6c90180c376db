/** What stands around the Pods of a demo: the real webhook and, for its relay, the API server that the demo plays. */
import { type DemoCluster, startDemoCluster } from "./api-server/demo-cluster.ts";
import type { AdmissionTarget } from "./rollout/admission-client.ts";
import { startWebhook, type WebhookPorts } from "./rollout/webhook-process.ts";

type ServersRequest = {
  readonly relay: boolean;
  /** Where the Pods are. */
  readonly namespace: string;
};

export type Servers = {
  readonly webhook: AdmissionTarget;
  /** `undefined` without the relay: nothing would read the slices. */
  readonly writeSlice: DemoCluster["writeSlice"] | undefined;
  readonly stop: () => Promise<void>;
};

/** @throws Fault ERR_DEMO_FAILED when one of them does not start */
export async function startServers(
  request: ServersRequest,
  ports: Omit<WebhookPorts, "kubeconfigFile">,
): Promise<Servers> {
  const cluster = request.relay ? await startDemoCluster({ ...ports, namespace: request.namespace }) : undefined;
  const starting = startWebhook({ ...ports, kubeconfigFile: cluster?.kubeconfigFile ?? "" });
  const webhook = await starting.catch(async (error: unknown) => {
    // An open server would keep the demo from ending.
    await cluster?.close();
    throw error;
  });
  return {
    webhook: webhook.target,
    writeSlice: cluster?.writeSlice,
    stop: async () => {
      await webhook.stop();
      await cluster?.close();
    },
  };
}
