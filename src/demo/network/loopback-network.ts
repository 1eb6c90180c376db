/**
 * Assigns a loopback address to each Pod. Needs no privileges, but all Pods share one network namespace: programs must
 * listen on `POD_IP`, and the manager counts only the sockets of that address.
 */
import { createServer } from "node:net";
import { Fault } from "../../fault.ts";
import { createPodNetwork, type PodNetwork } from "./pod-network.ts";

/** @throws Fault ERR_DEMO_FAILED when no network can be leased */
export function createLoopbackNetwork(): PodNetwork {
  return createPodNetwork("loopback", leaseLoopbackNetwork(), async (address) => ({
    address,
    commandInside: (argv) => argv,
    managerArguments: (args) => scopeArguments(address, args),
    release: () => {},
  }));
}

const SCOPED_COMMANDS: readonly string[] = ["serve", "drain", "status"];

/** Replaces loopback addresses in URLs by the Pod's address, because all Pods share the loopback device. */
export function scopeArguments(address: string, args: readonly string[]): string[] {
  const addressedArgs = args.map((arg) =>
    /^--(driver|drain|active)-url=/.test(arg)
      ? arg.replace(/\/\/(127\.0\.0\.1|localhost)(?=[:/]|$)/, `//${address}`)
      : arg,
  );
  return SCOPED_COMMANDS.includes(addressedArgs[0] ?? "")
    ? [...addressedArgs, `--address-scope=${address}`]
    : addressedArgs;
}

const FIRST_SECOND_BYTE = 64;
const SECOND_BYTES = 128;
const THIRD_BYTES = 256;

/**
 * Leases a loopback network until this process ends. The lease is an abstract Unix socket, which the kernel releases even
 * after SIGKILL. Names of abstract sockets, like loopback addresses, are unique per network namespace.
 *
 * @returns the first three bytes of the network's addresses, such as `127.64.0`
 * @throws Fault ERR_DEMO_FAILED when all networks are leased, or on a system without abstract sockets
 */
export function leaseLoopbackNetwork(): string {
  const networkCount = SECOND_BYTES * THIRD_BYTES;
  for (let attempt = 0; attempt < networkCount; attempt += 1) {
    const networkIndex = (process.pid + attempt) % networkCount;
    const prefix = `127.${FIRST_SECOND_BYTE + (networkIndex % SECOND_BYTES)}.${Math.trunc(networkIndex / SECOND_BYTES)}`;
    if (bindAbstractSocket(`lastcall-loopback-${prefix}`)) return prefix;
  }
  throw new Fault("ERR_DEMO_FAILED", "all loopback networks for Pods are in use; end other runs of the demo");
}

/** @returns false if any process, this one included, has bound the name */
export function bindAbstractSocket(name: string): boolean {
  const socketServer = createServer();
  // `listening` is already valid here; the error event follows in a later tick.
  socketServer.on("error", () => {});
  socketServer.listen({ path: `\0${name}`, exclusive: true });
  socketServer.unref();
  return socketServer.listening;
}
