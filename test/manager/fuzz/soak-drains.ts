/** Runs rounds of drains in one process. */
import { readdirSync } from "node:fs";
import { ownAddress } from "../../leases/own-address.ts";
import type { Round } from "./growth.ts";
import { demandCleanEnd, start } from "./sanitized-process.ts";
import { openSoakPod } from "./soak-pod.ts";

const SAMPLE_MS = 5;

/** @throws Finding when the program does not exit cleanly */
export async function soakDrains(
  program: string,
  { rounds, drains }: { readonly rounds: number; readonly drains: number },
): Promise<readonly Round[]> {
  const address = ownAddress();
  const pod = await openSoakPod(address);
  const made: Round[] = [];
  let sampling: NodeJS.Timeout | undefined;
  try {
    const running = start(program, [address, pod.busyPort, pod.quietPort, rounds, drains].map(String));
    // The minimum of a round excludes descriptors that are open only during a sample.
    let least = Number.POSITIVE_INFINITY;
    sampling = setInterval(() => {
      least = Math.min(least, descriptorsOf(running.child.pid ?? 0));
    }, SAMPLE_MS);
    running.child.stdout?.on("data", () => {
      least = Math.min(least, descriptorsOf(running.child.pid ?? 0));
      // The program exits with its last line, so its descriptors may be unreadable.
      const descriptors = Number.isFinite(least) ? least : (made.at(-1)?.descriptors ?? 0);
      least = Number.POSITIVE_INFINITY;
      for (const line of running.out().split("\n").slice(made.length, -1)) {
        const [, , hours, residentKib] = line.split(" ").map(Number);
        made.push({ hours: hours ?? 0, residentKib: residentKib ?? 0, descriptors });
      }
    });
    const end = await running.ended;
    demandCleanEnd(end, [0], Buffer.from(end.out));
    const lastly = end.out.trimEnd().split(" ").slice(-2).join(" ");
    if (lastly !== "timeout drained") throw new Error(`the Pods ended ${lastly}, expected timeout drained`);
  } finally {
    clearInterval(sampling);
    pod.close();
  }
  return made;
}

/** Number of open files; infinite when the process has exited. */
function descriptorsOf(pid: number): number {
  try {
    const open = readdirSync(`/proc/${pid}/fd`).length;
    return open === 0 ? Number.POSITIVE_INFINITY : open;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
