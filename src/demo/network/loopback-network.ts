/**
 * Every Pod gets a loopback address of its own. Needs no rights at all, but all Pods share one network namespace:
 * programs must listen on `POD_IP`, and the manager counts only that address's sockets.
 */
import { createServer } from "node:net";
import { Fault } from "../../fault.ts";
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

/** Which loopback addresses are whose: any process of the machine may use all of them, so they are leased. */
const FIRST_SECOND_BYTE = 64;
const SECOND_BYTES = 128;
const THIRD_BYTES = 256;

/**
 * A network that no other process with a lease uses as long as this one lives, however it ends. The kernel keeps the names
 * of abstract sockets as it keeps loopback interfaces: one list for each network namespace.
 *
 * @returns the first three bytes of its addresses, such as `127.64.0`
 * @throws Fault ERR_DEMO_FAILED when none is left, or where the system has no abstract sockets
 */
export function leaseLoopbackNetwork(): string {
  const total = SECOND_BYTES * THIRD_BYTES;
  // Mostly the first try: those who ask at the same time begin apart.
  for (let tries = 0; tries < total; tries += 1) {
    const number = (process.pid + tries) % total;
    const network = `127.${FIRST_SECOND_BYTE + (number % SECOND_BYTES)}.${Math.trunc(number / SECOND_BYTES)}`;
    if (takesName(`lastcall-loopback-${network}`)) return network;
  }
  throw new Fault("ERR_DEMO_FAILED", "no loopback network is left for the Pods");
}

/** Takes a name that only one process can have. @returns false where another has it, or this one took it before */
export function takesName(name: string): boolean {
  const holder = createServer();
  // The error comes a moment later; that it does not listen is known at once.
  holder.on("error", () => {});
  holder.listen({ path: `\0${name}`, exclusive: true });
  holder.unref();
  return holder.listening;
}
