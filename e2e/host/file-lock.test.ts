import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { withFileLock } from "./file-lock.ts";

const folder = mkdtempSync(join(tmpdir(), "lastcall-lock-"));
const file = join(folder, "lock");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ignore = () => {};

/** A promise with its resolve function. */
function createSignal() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

describe("the lock of the host", () => {
  test("is given to one process at a time, and a wait for the lock is reported", async () => {
    const order: string[] = [];
    const firstMayFinish = createSignal();
    const started = createSignal();
    const firstHolder = withFileLock(
      file,
      async () => {
        started.resolve();
        await firstMayFinish.promise;
        order.push("first done");
      },
      ignore,
    );
    await started.promise;
    const waitStarted = createSignal();
    const secondHolder = withFileLock(file, async () => void order.push("second in"), waitStarted.resolve);
    await waitStarted.promise;
    firstMayFinish.resolve();
    await Promise.all([firstHolder, secondHolder]);
    expect(order).toEqual(["first done", "second in"]);
  });

  test("is released after work that failed", async () => {
    await expect(withFileLock(file, () => Promise.reject(new Error("no luck")), ignore)).rejects.toThrow("no luck");
    expect(await withFileLock(file, () => Promise.resolve("in"), ignore)).toBe("in");
  });

  test("is released if its process was killed", async () => {
    const source = `import { withFileLock } from ${JSON.stringify(join(import.meta.dirname, "file-lock.ts"))};
      await withFileLock(${JSON.stringify(file)}, () => { console.log("held"); return new Promise(() => setInterval(() => {}, 1000)); }, () => {});`;
    const holder = spawn(process.execPath, ["--input-type=module", "-e", source], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(holder.stdout, "data");
    holder.kill("SIGKILL");
    expect(await withFileLock(file, () => Promise.resolve("in"), ignore)).toBe("in");
  });
});
