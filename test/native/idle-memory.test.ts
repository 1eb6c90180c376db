import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { ownAddress } from "../leases/own-address.ts";
import { eventually } from "../time/eventually.ts";

/** The limit of the file's bytes in memory while the manager is idle. The start reads nine tenths of the file. */
const MOST_OF_THE_FILE = 2 / 3;

/** Returns the bytes of this file in a process' memory. */
function residentBytes(pid: number, file: string): number {
  const maps = readFileSync(`/proc/${pid}/smaps`, "utf8").split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  const own = maps.filter((map) => map.split("\n")[0]?.endsWith(` ${file}`));
  return 1024 * own.reduce((sum, map) => sum + Number(/^Rss: +(\d+) kB$/m.exec(map)?.[1] ?? Number.NaN), 0);
}

test.skipIf(inject("nativeManager") === "")(
  "an idle manager has unmapped the code that only its start needs",
  async () => {
    const binary = inject("nativeManager");
    const child = spawn(binary, ["serve", `--address-scope=${ownAddress()}`], {
      env: { LASTCALL_TOKEN: "t" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "close");
    try {
      await once(child.stdout, "data");
      const limit = statSync(binary).size * MOST_OF_THE_FILE;
      await eventually(() => {
        const resident = residentBytes(child.pid ?? 0, binary);
        expect(resident).toBeGreaterThan(0);
        expect(resident).toBeLessThan(limit);
      });
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
  },
);
