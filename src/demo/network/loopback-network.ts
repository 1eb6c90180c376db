/**
 * Every Pod gets a loopback address of its own. Needs no rights at all, but all Pods share one network namespace:
 * programs must listen on `POD_IP`, and the manager counts only that address's sockets.
 */
import { Fault } from "../../fault.ts";
import { leaseLoopbackNetwork } from "./loopback-lease.ts";
import type { PodNetwork } from "./pod-network.ts";

const FIRST_POD = 10;
const LAST_POD = 250;

/** @throws Fault ERR_DEMO_FAILED where no network can be leased */
export function createLoopbackNetwork(): PodNetwork {
  const prefix = leaseLoopbackNetwork();
  let next = FIRST_POD;
  return {
    kind: "loopback",
    kubeletAddress: `${prefix}.1`,
    trafficAddress: `${prefix}.2`,
    serviceAddress: `${prefix}.3`,
    webhookAddress: `${prefix}.4`,
    attach: () => {
      if (next > LAST_POD) return Promise.reject(new Fault("ERR_DEMO_FAILED", "no loopback address is left for a Pod"));
      const address = `${prefix}.${next++}`;
      return Promise.resolve({
        address,
        inside: (argv) => argv,
        managerArguments: (args) => scopedTo(address, args),
        release: () => {},
      });
    },
  };
}

/** The manager's commands that concern one Pod's network. */
const SCOPED: readonly string[] = ["serve", "drain", "status"];

/** The Pod's own loopback is its address here, so URLs that mean "this Pod" must name it. */
export function scopedTo(address: string, args: readonly string[]): string[] {
  const adapted = args.map((arg) =>
    /^--(driver|drain|active)-url=/.test(arg)
      ? arg.replace(/\/\/(127\.0\.0\.1|localhost)(?=[:/]|$)/, `//${address}`)
      : arg,
  );
  return SCOPED.includes(adapted[0] ?? "") ? [...adapted, `--address-scope=${address}`] : adapted;
}
