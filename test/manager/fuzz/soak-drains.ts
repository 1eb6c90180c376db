/** Rounds of drains in one process. */
import { readdirSync } from "node:fs";
import type { Round } from "./growth.ts";
import { demandCleanEnd, loopbackAddress, start } from "./sanitized-process.ts";
import { openSoakPod } from "./soak-pod.ts";

/** @throws Finding when the program does not end well */
export async function soakDrains(
  program: string,
  { rounds, drains }: { readonly rounds: number; readonly drains: number },
): Promise<readonly Round[]> {
  const address = loopbackAddress(4);
  const pod = await openSoakPod(address);
  const made: Round[] = [];
  try {
    const running = start(program, [address, pod.busyPort, pod.quietPort, rounds, drains].map(String));
    running.child.stdout?.on("data", () => {
      // It goes on meanwhile; what it opens and closes within a look is not growth.
      const descriptors = descriptorsOf(running.child.pid ?? 0);
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
    pod.close();
  }
  return made;
}

/** Open files, without the one socket that a look may have open just now; 0 when the process has gone. */
function descriptorsOf(pid: number): number {
  try {
    const counts = Array.from({ length: 20 }, () => readdirSync(`/proc/${pid}/fd`).length);
    return Math.min(...counts);
  } catch {
    return 0;
  }
}
