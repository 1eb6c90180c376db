/**
 * Gives every Pod a loopback address. Needs no privileges, but all Pods share one network namespace: programs must listen
 * on `POD_IP`, and the manager counts only the sockets of that address.
 */
import { createServer } from "node:net";
import { Fault } from "../../fault.ts";
import { type PodNetwork, podNetwork } from "./pod-network.ts";

/** @throws Fault ERR_DEMO_FAILED when no network can be leased */
export function createLoopbackNetwork(): PodNetwork {
  return podNetwork("loopback", leaseLoopbackNetwork(), async (address) => ({
    address,
    inside: (argv) => argv,
    managerArguments: (args) => scopedTo(address, args),
    release: () => {},
  }));
}

/** Commands of the manager that concern the network of one Pod. */
const SCOPED: readonly string[] = ["serve", "drain", "status"];

/** Puts the Pod's address into URLs of the Pod's loopback, which is shared here. */
export function scopedTo(address: string, args: readonly string[]): string[] {
  const adapted = args.map((arg) =>
    /^--(driver|drain|active)-url=/.test(arg)
      ? arg.replace(/\/\/(127\.0\.0\.1|localhost)(?=[:/]|$)/, `//${address}`)
      : arg,
  );
  return SCOPED.includes(adapted[0] ?? "") ? [...adapted, `--address-scope=${address}`] : adapted;
}

const FIRST_SECOND_BYTE = 64;
const SECOND_BYTES = 128;
const THIRD_BYTES = 256;

/**
 * Leases a network from all processes of the machine until this one ends, however it ends. The lease is the name of an
 * abstract socket: the kernel keeps one list of those names for each network namespace, as it does for loopback addresses.
 *
 * @returns the first three bytes of its addresses, such as `127.64.0`
 * @throws Fault ERR_DEMO_FAILED when none is left, or where the system has no abstract sockets
 */
export function leaseLoopbackNetwork(): string {
  const total = SECOND_BYTES * THIRD_BYTES;
  for (let tries = 0; tries < total; tries += 1) {
    // Processes that lease at the same time begin apart.
    const number = (process.pid + tries) % total;
    const network = `127.${FIRST_SECOND_BYTE + (number % SECOND_BYTES)}.${Math.trunc(number / SECOND_BYTES)}`;
    if (takesName(`lastcall-loopback-${network}`)) return network;
  }
  throw new Fault("ERR_DEMO_FAILED", "no loopback network is left for the Pods");
}

/** Takes a name that only one process can have. @returns false where any process has it, this one included */
export function takesName(name: string): boolean {
  const holder = createServer();
  // The error event comes later, but `listening` is valid at once.
  holder.on("error", () => {});
  holder.listen({ path: `\0${name}`, exclusive: true });
  holder.unref();
  return holder.listening;
}
