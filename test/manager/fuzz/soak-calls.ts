/** Rounds of everything that is called of a manager whose Pod lives on: status, restarts of containers, strangers. */
import { readdirSync, readFileSync } from "node:fs";
import { ownAddress } from "../../leases/own-address.ts";
import { pause } from "../../time/pause.ts";
import type { Round } from "./growth.ts";
import { demandCleanEnd, exchange, start, TOKEN, untilSaid } from "./sanitized-process.ts";

const request = (path: string): Buffer =>
  Buffer.from(`GET /${path} HTTP/1.1\r\nHost: manager\r\nConnection: close\r\n\r\n`);
const STATUS = request(`${TOKEN}/status`);
const RESTART = request(`${TOKEN}/prestop/app`);
const STRANGERS = [request("x"), Buffer.from("\x16\x03\x01\x02"), Buffer.from("GET /half")];

const LIMIT_MS = 30_000;
/** A call every ten seconds would be a Pod that is watched closely and whose app restarts all the time. */
const SECONDS_PER_CALL = 10;
const AT_ONCE = 20;
/** Strangers stay 2 s; then the manager has no one again. */
const REST_MS = 2_500;
/** Never two hooks at once: that would be the Pod's end. */
const RESTARTS = 1;

export async function soakCalls(
  binary: string,
  { rounds, calls }: { readonly rounds: number; readonly calls: number },
): Promise<readonly Round[]> {
  const address = ownAddress();
  const manager = start(binary, ["serve", `--address-scope=${address}`, "--hooks=app:app", "--drain-delay=1s"]);
  await untilSaid(manager, /"listening"/, LIMIT_MS);
  const made: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const restart = exchange(address, RESTART, LIMIT_MS);
    for (let n = 0; n < calls; n += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, k) => exchange(address, callOf(k), LIMIT_MS)));
    const answer = await restart;
    if (!/"phase":"idle".*"outcome":"restarted"/.test(answer)) throw new Error(`a restart was answered: ${answer}`);
    await pause(REST_MS, "what the round left behind is let go");
    const hours = (round * (calls + RESTARTS) * SECONDS_PER_CALL) / 3_600;
    made.push({ hours, ...stateOf(manager.child.pid ?? 0) });
  }
  manager.child.kill("SIGTERM");
  demandCleanEnd(await manager.ended, [0], Buffer.alloc(0));
  return made;
}

/** One in four is no one's. */
function callOf(n: number): Buffer {
  return n % 4 === 0 ? (STRANGERS[(n / 4) % STRANGERS.length] ?? STATUS) : STATUS;
}

function stateOf(pid: number): { readonly residentKib: number; readonly descriptors: number } {
  const kib = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return { residentKib: Number(kib), descriptors: readdirSync(`/proc/${pid}/fd`).length };
}
