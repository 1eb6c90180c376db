/** Runs programs of tests in their own network namespaces. */
import { type ChildProcess, spawnSync } from "node:child_process";

export const POD_ADDRESS = "10.111.0.1";
export const CLIENT_ADDRESS = "10.111.0.2";

const unshareResult = spawnSync("unshare", ["-n", "true"], { encoding: "utf8" });
export const canIsolate = unshareResult.status === 0 && spawnSync("ip", ["-V"]).status === 0;
if (!canIsolate)
  process.stdout.write(`skipped: cannot create network namespaces: ${unshareResult.stderr ?? unshareResult.error}\n`);

/** Ends a program that hangs. While the synchronous call waits, the test runner cannot enforce the test's own time limit. */
const PROGRAM_LIMIT_MS = 100_000;

/**
 * @param program file next to this one
 * @returns one value per line of JSON
 * @throws if the program does not start, hangs or writes to stderr
 */
export function runInOwnNetwork(program: string, args: readonly string[]): readonly Record<string, unknown>[] {
  const file = new URL(program, import.meta.url).pathname;
  const { stdout, stderr, error } = spawnSync("unshare", ["-n", process.execPath, file, ...args], {
    encoding: "utf8",
    timeout: PROGRAM_LIMIT_MS,
    killSignal: "SIGKILL",
  });
  if (error !== undefined || stderr !== "") throw new Error(`${program}: ${error?.message ?? stderr}`);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Connects the network namespaces of two processes, as {@link POD_ADDRESS} and {@link CLIENT_ADDRESS}. */
export function joinNetworks(pod: ChildProcess, client: ChildProcess): void {
  runIp(pod, "link", "set", "lo", "up");
  runIp(pod, "link", "add", "v0", "type", "veth", "peer", "name", "v1", "netns", String(client.pid));
  for (const [side, address, link] of [
    [pod, POD_ADDRESS, "v0"],
    [client, CLIENT_ADDRESS, "v1"],
  ] as const) {
    runIp(side, "addr", "add", `${address}/24`, "dev", link);
    runIp(side, "link", "set", link, "up");
  }
}

function runIp({ pid }: ChildProcess, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync("nsenter", ["-t", String(pid), "-n", "ip", ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr}`);
}
