/** Locks a file for one process of the host. The kernel releases the lock when its holder exits, so a lock is never stale. */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

/** Runs `work` while holding the lock on `file`; `onWait` is called once if another process holds the lock. */
export async function withFileLock<T>(file: string, work: () => Promise<T>, onWait: () => void): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  let release = await acquireLock(file, ["--nonblock"]);
  if (release === undefined) {
    onWait();
    release = await acquireLock(file, []);
  }
  if (release === undefined) throw new Error(`flock could not lock ${file}`);
  try {
    return await work();
  } finally {
    await release();
  }
}

/** Locks the file until the returned function is called or this process ends. Resolves with `undefined` if another process holds the lock. */
export function tryLock(file: string): Promise<(() => Promise<void>) | undefined> {
  mkdirSync(dirname(file), { recursive: true });
  return acquireLock(file, ["--nonblock"]);
}

/** The holder is a child that exits when its standard input closes, which happens even if this process is killed. */
function acquireLock(file: string, flags: readonly string[]): Promise<(() => Promise<void>) | undefined> {
  return new Promise((resolve, reject) => {
    const holder = spawn("flock", [...flags, file, "sh", "-c", "echo held; exec cat >/dev/null"], {
      stdio: ["pipe", "pipe", "inherit"],
      detached: true,
    });
    const whenClosed = new Promise<void>((done) => holder.once("close", () => done()));
    holder.once("error", reject);
    holder.once("close", () => resolve(undefined));
    holder.stdout.once("data", () =>
      resolve(() => {
        holder.stdin.end();
        return whenClosed;
      }),
    );
  });
}
