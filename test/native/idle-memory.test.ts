import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { ownAddress } from "../leases/own-address.ts";
import { eventually } from "../time/eventually.ts";

/** The maximum part of the binary in memory while the manager is idle. Its start reads nine tenths of the binary. */
const MAX_RESIDENT_PART = 2 / 3;

/** @returns the bytes of the file in the process's memory */
function residentBytes(pid: number, file: string): number {
  const maps = readFileSync(`/proc/${pid}/smaps`, "utf8").split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m);
  const mapsOfFile = maps.filter((map) => map.split("\n")[0]?.endsWith(` ${file}`));
  return 1024 * mapsOfFile.reduce((sum, map) => sum + Number(/^Rss: +(\d+) kB$/m.exec(map)?.[1] ?? Number.NaN), 0);
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
      const limit = statSync(binary).size * MAX_RESIDENT_PART;
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
