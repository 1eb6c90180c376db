/**
 * Runs the demo again inside namespaces of its own, where it is process 1 and root of an empty network: whatever it
 * starts there ends with it, however it ends.
 */
import { spawn, spawnSync } from "node:child_process";

export type NamespaceOffer =
  | { readonly possible: true; readonly prefix: readonly string[] }
  | { readonly possible: false; readonly why: string };

const COMMON = ["--net", "--pid", "--fork", "--kill-child", "--mount", "--mount-proc"];
const WAYS: readonly (readonly string[])[] = [
  ["unshare", ...COMMON, "--"],
  ["unshare", "--user", "--map-root-user", ...COMMON, "--"],
];
/** Everything the Pods' network is made of, tried once. */
const TRIAL =
  "ip link set lo up && ip link add trial type bridge && ip link add v0 type veth peer name v1 && nsenter --net=/proc/self/ns/net -- true";

/** Asks the machine by trying: rights, kernel settings and missing programs all show in the same way. */
export function offerNamespaces(): NamespaceOffer {
  const complaints: string[] = [];
  for (const way of WAYS) {
    const [program = "", ...args] = way;
    const trial = spawnSync(program, [...args, "sh", "-c", TRIAL], { encoding: "utf8", timeout: 10_000 });
    if (trial.status === 0) return { possible: true, prefix: way };
    complaints.push((trial.error?.message ?? trial.stderr).trim().split("\n")[0] ?? "");
  }
  return { possible: false, why: complaints.filter((complaint) => complaint !== "").join("; ") };
}

export type InsideRun = {
  readonly prefix: readonly string[];
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C or SIGTERM: the inner demo cleans up and leaves. */
  readonly stop: AbortSignal;
};

/** How long the inner demo may take to leave once told. */
const LEAVE_LIMIT_MS = 5_000;

/** Resolves with the exit status of the inner demo. Its standard input is a leash: it leaves when that ends. */
export function runInside(run: InsideRun): Promise<number> {
  const [program = "", ...args] = [...run.prefix, ...run.command];
  // A session of its own: the terminal's Ctrl-C reaches the outer demo only.
  const child = spawn(program, args, { stdio: ["pipe", "inherit", "inherit"], detached: true, env: run.environment });
  let limit: NodeJS.Timeout | undefined;
  run.stop.addEventListener("abort", () => {
    child.stdin.end();
    limit = setTimeout(() => child.kill("SIGKILL"), LEAVE_LIMIT_MS);
  });
  return new Promise((resolve) => {
    const over = (status: number) => {
      clearTimeout(limit);
      child.stdin.destroy();
      resolve(status);
    };
    child.stdin.on("error", () => {});
    child.once("error", () => over(1));
    child.once("exit", (status) => over(status ?? 1));
  });
}
