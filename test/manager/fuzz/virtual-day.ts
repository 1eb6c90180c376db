/** Part of the sanitizer run: drains on a virtual clock, which must free all memory before the exit. */
import { ownAddress } from "../../leases/own-address.ts";
import { Finding, type Part } from "./sanitize-part.ts";
import { FUZZ_FOLDER, requireCleanExit, start } from "./sanitized-process.ts";
import { openSoakPod } from "./soak-pod.ts";

export const DRAINS_PROGRAM = `${FUZZ_FOLDER}/drains-sanitize`;

const ROUNDS = 2;
const DRAINS = 5;

export const virtualDay: Part = async () => {
  const address = ownAddress();
  const pod = await openSoakPod(address);
  try {
    const args = [address, pod.busyPort, pod.quietPort, ROUNDS, DRAINS].map(String);
    const end = await start(DRAINS_PROGRAM, args).ended;
    requireCleanExit(end, [0], Buffer.from(end.out));
    const [, samples, , , busy, quiet] = end.out.trimEnd().split("\n").at(-1)?.split(" ") ?? [];
    if (busy !== "timeout" || quiet !== "drained")
      throw new Finding(`a Pod with a client ended ${busy}, a quiet one ${quiet}`, Buffer.from(end.out));
    return `${2 * ROUNDS * DRAINS} drains with ${samples} samples`;
  } finally {
    pod.close();
  }
};
