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
  /** Source address of hooks and probes. Differs from the source address of traffic, as in a cluster. */
  readonly kubeletAddress: string;
  readonly trafficAddress: string;
  readonly attach: () => Promise<PodAttachment>;
};

const FIRST_HOST_NUMBER = 10;
const LAST_HOST_NUMBER = 250;

export function createPodNetwork(
  kind: PodNetwork["kind"],
  prefix: string,
  attach: (address: string, hostNumber: number) => Promise<PodAttachment>,
): PodNetwork {
  let nextHostNumber = FIRST_HOST_NUMBER;
  return {
    kind,
    kubeletAddress: `${prefix}.1`,
    trafficAddress: `${prefix}.2`,
    serviceAddress: `${prefix}.3`,
    webhookAddress: `${prefix}.4`,
    attach: async () => {
      if (nextHostNumber > LAST_HOST_NUMBER) throw new Fault("ERR_DEMO_FAILED", "all Pod addresses are in use");
      const hostNumber = nextHostNumber++;
      return attach(`${prefix}.${hostNumber}`, hostNumber);
    },
  };
}
