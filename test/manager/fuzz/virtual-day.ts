/** Part of the sanitizer run: drains on a virtual clock, which must free all memory before the exit. */
import { ownAddress } from "../../leases/own-address.ts";
import { Finding, type Part } from "./sanitize-part.ts";
import { FUZZ_FOLDER, requireCleanExit, start } from "./sanitized-process.ts";
import { openSoakPod } from "./soak-pod.ts";

export const DRAINS_PROGRAM = `${FUZZ_FOLDER}/drains-sanitize`;

const ROUND_COUNT = 2;
const DRAINS_PER_ROUND = 5;

export const drainForVirtualDay: Part = async () => {
  const address = ownAddress();
  const pod = await openSoakPod(address);
  try {
    const args = [address, pod.busyPort, pod.quietPort, ROUND_COUNT, DRAINS_PER_ROUND].map(String);
    const end = await start(DRAINS_PROGRAM, args).ended;
    requireCleanExit(end, [0], Buffer.from(end.stdout));
    const [, samples, , , busy, quiet] = end.stdout.trimEnd().split("\n").at(-1)?.split(" ") ?? [];
    if (busy !== "timeout" || quiet !== "drained")
      throw new Finding(`a Pod with a client ended ${busy}, a quiet one ${quiet}`, Buffer.from(end.stdout));
    return `${2 * ROUND_COUNT * DRAINS_PER_ROUND} drains with ${samples} samples`;
  } finally {
    pod.close();
  }
};
