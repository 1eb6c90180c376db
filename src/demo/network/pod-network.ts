/** Assigns addresses to Pods, the Service, the webhook and the clients. */
import { Fault } from "../../fault.ts";

export type PodAttachment = {
  readonly address: string;
  readonly commandInside: (argv: readonly string[]) => readonly string[];
  readonly managerArguments: (args: readonly string[]) => readonly string[];
  readonly release: () => void;
};

export type PodNetwork = {
  readonly kind: "namespace" | "loopback";
  readonly serviceAddress: string;
  readonly webhookAddress: string;
  /** Source address of hooks and probes. Differs from that of traffic, as in a cluster. */
  readonly kubeletAddress: string;
  readonly trafficAddress: string;
  readonly attach: () => Promise<PodAttachment>;
};

const FIRST_POD = 10;
const LAST_POD = 250;

export function podNetwork(
  kind: PodNetwork["kind"],
  prefix: string,
  attach: (address: string, host: number) => Promise<PodAttachment>,
): PodNetwork {
  let next = FIRST_POD;
  return {
    kind,
    kubeletAddress: `${prefix}.1`,
    trafficAddress: `${prefix}.2`,
    serviceAddress: `${prefix}.3`,
    webhookAddress: `${prefix}.4`,
    attach: async () => {
      if (next > LAST_POD) throw new Fault("ERR_DEMO_FAILED", "all Pod addresses are in use");
      const host = next++;
      return attach(`${prefix}.${host}`, host);
    },
  };
}
