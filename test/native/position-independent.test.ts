import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";

const ET_DYN = 3;
const PT_INTERP = 3;
const STARTS = 8;

/** Starts the manager once. @returns the start address of its code */
async function codeAddress(binary: string): Promise<string> {
  const child = spawn(binary, ["serve", "--address-scope=127.200.200.200"], {
    env: { LASTCALL_TOKEN: "t" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = once(child, "close");
  await once(child.stdout, "data");
  const maps = readFileSync(`/proc/${child.pid}/maps`, "utf8");
  child.kill("SIGKILL");
  await ended;
  return (
    maps
      .split("\n")
      .find((line) => line.includes(binary))
      ?.split("-")[0] ?? ""
  );
}

test.skipIf(inject("nativeManager") === "")("the manager's code has another address in each process", async () => {
  const binary = inject("nativeManager");
  const file = readFileSync(binary);
  expect(file.readUInt16LE(16)).toBe(ET_DYN);
  const [at, size, count] = [Number(file.readBigUInt64LE(32)), file.readUInt16LE(54), file.readUInt16LE(56)];
  const kinds = Array.from({ length: count }, (_, index) => file.readUInt32LE(at + index * size));
  expect(kinds).not.toContain(PT_INTERP);
  const addresses = new Set<string>();
  for (let start = 0; start < STARTS; start += 1) addresses.add(await codeAddress(binary));
  process.stdout.write(`code at ${[...addresses].join(", ")}\n`);
  // The kernel randomises 28 bits of the address. If the host disables this, all addresses are equal.
  const isRandomized = readFileSync("/proc/sys/kernel/randomize_va_space", "utf8").trim() !== "0";
  if (isRandomized) expect(addresses.size).toBe(STARTS);
  else process.stdout.write("skipped: this host does not choose addresses by chance\n");
});
