/**
 * `npm run bench:drain [-- --json]`: measures how much longer than necessary a drain waits. Real managers drain real servers;
 * over-wait = release − max(trigger + drain delay, last evidence of traffic + quiet period), by the clients' clock.
 */
import { DRAIN_DELAY_MS, type Pod, QUIET_PERIOD_MS, startPod } from "./drain-pod.ts";
import { KINDS, type Kind } from "./drain-traffic.ts";

const GOAL_MS = 250;
const ROUNDS = 20;
/** Per kind and round, all at the same time: with more, the host's CPU would be the limit. */
const PODS_PER_KIND = 1;

type Percentiles = {
  readonly drains: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly min: number;
};

async function measureOverWaitMs(pod: Pod, kind: Kind): Promise<number> {
  const traffic = await kind.start(pod.address);
  try {
    const triggerMs = performance.now();
    const [drained, evidenceMs] = await Promise.all([pod.drain(), traffic.during()]);
    if (drained.outcome !== "drained") throw new Error(`${kind.name}: the drain ended as ${drained.outcome}`);
    return drained.releasedMs - Math.max(triggerMs + DRAIN_DELAY_MS, evidenceMs + QUIET_PERIOD_MS);
  } finally {
    await traffic.end();
  }
}

async function runRound(round: number, into: Map<string, number[]>): Promise<void> {
  const kinds = KINDS.flatMap((kind) => Array.from({ length: PODS_PER_KIND }, () => kind));
  const pods = await Promise.all(kinds.map((_, n) => startPod(`127.84.${round + 1}.${n + 1}`)));
  try {
    const waits = await Promise.all(kinds.map((kind, n) => measureOverWaitMs(at(pods, n), kind)));
    for (const [n, kind] of kinds.entries()) into.set(kind.name, [...(into.get(kind.name) ?? []), at(waits, n)]);
  } finally {
    await Promise.all(pods.map((pod) => pod.stop()));
  }
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`no item ${index}`);
  return item;
}

function percentilesOf(waits: readonly number[]): Percentiles {
  const sorted = [...waits].sort((a, b) => a - b);
  const rank = (share: number): number => at(sorted, Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1));
  const whole = (ms: number): number => Math.round(ms);
  return {
    drains: sorted.length,
    p50: whole(rank(0.5)),
    p99: whole(rank(0.99)),
    max: whole(at(sorted, sorted.length - 1)),
    min: whole(at(sorted, 0)),
  };
}

const waits = new Map<string, number[]>();
for (let round = 0; round < ROUNDS; round += 1) await runRound(round, waits);
const table = KINDS.map((kind) => ({ traffic: kind.name, ...percentilesOf(waits.get(kind.name) ?? []) }));
const missed = table.filter((row) => row.p99 > GOAL_MS || row.min < -QUIET_PERIOD_MS / 2);

if (process.argv.includes("--json")) {
  process.stdout.write(`${JSON.stringify({ goalMs: GOAL_MS, overWaitMs: table, passed: missed.length === 0 })}\n`);
} else {
  process.stdout.write("over-wait in ms beyond max(drain delay, last evidence + quiet period)\n");
  for (const row of table) {
    const cells = [row.drains, row.p50, row.p99, row.max, row.min].map((cell) => String(cell).padStart(7));
    process.stdout.write(`${row.traffic.padEnd(18)}${cells.join("")}\n`);
  }
  process.stdout.write(`${"".padEnd(18)} drains    p50    p99    max    min   goal: p99 <= ${GOAL_MS}\n`);
}
if (missed.length > 0) {
  process.stderr.write(`missed: ${missed.map((row) => row.traffic).join(", ")}\n`);
  process.exitCode = 1;
}
