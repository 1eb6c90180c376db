/** Sends rounds of requests to an idle manager: status requests, hook calls as at container restarts, unauthenticated requests. */
import { readdirSync, readFileSync } from "node:fs";
import { ownAddress } from "../../leases/own-address.ts";
import { pause } from "../../time/pause.ts";
import type { Round } from "./growth.ts";
import { exchange, requireCleanExit, start, TOKEN, untilPrinted } from "./sanitized-process.ts";

const encodeRequest = (path: string): Buffer =>
  Buffer.from(`GET /${path} HTTP/1.1\r\nHost: manager\r\nConnection: close\r\n\r\n`);
const STATUS_REQUEST = encodeRequest(`${TOKEN}/status`);
const RESTART_REQUEST = encodeRequest(`${TOKEN}/prestop/app`);
const UNAUTHENTICATED_REQUESTS = [encodeRequest("x"), Buffer.from("\x16\x03\x01\x02"), Buffer.from("GET /half")];

const LIMIT_MS = 30_000;
/** Assumed interval between calls; even in a Pod whose containers restart constantly, calls are less frequent. */
const SECONDS_PER_CALL = 10;
const PARALLEL_CALLS = 20;
/** Longer than 2 s, after which the manager closes unauthenticated connections. */
const CLOSE_WAIT_MS = 2_500;
/** Restarts per round; simultaneous hooks of two containers would not be treated as separate restarts. */
const RESTARTS_PER_ROUND = 1;

export async function soakCalls(
  binary: string,
  { rounds, calls }: { readonly rounds: number; readonly calls: number },
): Promise<readonly Round[]> {
  const address = ownAddress();
  const manager = start(binary, ["serve", `--address-scope=${address}`, "--hooks=app:app", "--drain-delay=1s"]);
  await untilPrinted(manager, /"listening"/, LIMIT_MS);
  const measuredRounds: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const restartCall = exchange(address, RESTART_REQUEST, LIMIT_MS);
    for (let n = 0; n < calls; n += PARALLEL_CALLS)
      await Promise.all(Array.from({ length: PARALLEL_CALLS }, (_, k) => exchange(address, requestOf(k), LIMIT_MS)));
    const response = await restartCall;
    if (!/"phase":"idle".*"outcome":"restarted"/.test(response)) throw new Error(`a restart was answered: ${response}`);
    await pause(CLOSE_WAIT_MS, "the manager closes the round's connections");
    const hours = (round * (calls + RESTARTS_PER_ROUND) * SECONDS_PER_CALL) / 3_600;
    measuredRounds.push({ hours, ...stateOf(manager.child.pid ?? 0) });
  }
  manager.child.kill("SIGTERM");
  requireCleanExit(await manager.ended, [0], Buffer.alloc(0));
  return measuredRounds;
}

/** One call in four is unauthenticated. */
function requestOf(n: number): Buffer {
  return n % 4 === 0
    ? (UNAUTHENTICATED_REQUESTS[(n / 4) % UNAUTHENTICATED_REQUESTS.length] ?? STATUS_REQUEST)
    : STATUS_REQUEST;
}

function stateOf(pid: number): { readonly residentKib: number; readonly descriptors: number } {
  const kib = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return { residentKib: Number(kib), descriptors: readdirSync(`/proc/${pid}/fd`).length };
}
