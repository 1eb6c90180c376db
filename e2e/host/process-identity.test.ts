import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, test } from "vitest";
import { identityOf, isAlive, parentOf } from "./process-identity.ts";

describe("the identity of a process", () => {
  test("is valid while the process runs", async () => {
    const child = spawn("sleep", ["60"]);
    await once(child, "spawn");
    const identity = identityOf(child.pid ?? 0);
    expect(identity !== undefined && isAlive(identity)).toBe(true);
    child.kill("SIGKILL");
    await once(child, "close");
    expect(identity !== undefined && isAlive(identity)).toBe(false);
  });

  test("differs from the identity of another process with the same PID", () => {
    const ownIdentity = identityOf(process.pid);
    expect(isAlive({ pid: process.pid, startTicks: (ownIdentity?.startTicks ?? 0) - 1 })).toBe(false);
  });

  test("is undefined if no process has the PID", () => {
    expect(identityOf(2 ** 30)).toBeUndefined();
  });
});

test("the parent PID of a process is 0 if the process does not exist", () => {
  expect(parentOf(process.pid)).toBe(process.ppid);
  expect(parentOf(2 ** 30)).toBe(0);
});
