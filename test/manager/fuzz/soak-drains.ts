/** Runs rounds of drains in one process. */
import { readdirSync } from "node:fs";
import { ownAddress } from "../../leases/own-address.ts";
import type { Round } from "./growth.ts";
import { requireCleanExit, start } from "./sanitized-process.ts";
import { openSoakPod } from "./soak-pod.ts";

const SAMPLE_MS = 5;

/** @throws Finding if the program does not exit cleanly, and Error if the drains have unexpected outcomes */
export async function soakDrains(
  program: string,
  { rounds, drains }: { readonly rounds: number; readonly drains: number },
): Promise<readonly Round[]> {
  const address = ownAddress();
  const pod = await openSoakPod(address);
  const measuredRounds: Round[] = [];
  let sampleTimer: NodeJS.Timeout | undefined;
  try {
    const soakProgram = start(program, [address, pod.busyPort, pod.quietPort, rounds, drains].map(String));
    // The minimum of a round excludes descriptors that are open only during a sample.
    let fewestDescriptors = Number.POSITIVE_INFINITY;
    sampleTimer = setInterval(() => {
      fewestDescriptors = Math.min(fewestDescriptors, descriptorsOf(soakProgram.child.pid ?? 0));
    }, SAMPLE_MS);
    soakProgram.child.stdout?.on("data", () => {
      fewestDescriptors = Math.min(fewestDescriptors, descriptorsOf(soakProgram.child.pid ?? 0));
      // The program exits after its last line, so its descriptors may be unreadable when the test receives this line.
      const descriptors = Number.isFinite(fewestDescriptors)
        ? fewestDescriptors
        : (measuredRounds.at(-1)?.descriptors ?? 0);
      fewestDescriptors = Number.POSITIVE_INFINITY;
      for (const line of soakProgram.stdout().split("\n").slice(measuredRounds.length, -1)) {
        const [, , hours, residentKib] = line.split(" ").map(Number);
        measuredRounds.push({ hours: hours ?? 0, residentKib: residentKib ?? 0, descriptors });
      }
    });
    const end = await soakProgram.ended;
    requireCleanExit(end, [0], Buffer.from(end.stdout));
    const outcomes = end.stdout.trimEnd().split(" ").slice(-2).join(" ");
    if (outcomes !== "timeout drained") throw new Error(`the Pods ended ${outcomes}, expected timeout drained`);
  } finally {
    clearInterval(sampleTimer);
    pod.close();
  }
  return measuredRounds;
}

/** Number of open files; infinite if the process has exited. */
function descriptorsOf(pid: number): number {
  try {
    const openFiles = readdirSync(`/proc/${pid}/fd`).length;
    return openFiles === 0 ? Number.POSITIVE_INFINITY : openFiles;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
