/**
 * `npm run bench:drain [-- --json]`: measures the over-wait of drains, the time that they wait longer than necessary. Real
 * managers drain real servers; over-wait = hook's end − max(trigger + drain delay, last response + quiet period).
 */
import { DRAIN_DELAY_MS, type Pod, QUIET_PERIOD_MS, startPod } from "./drain-pod.ts";
import { TRAFFIC_KINDS, type TrafficKind } from "./drain-traffic.ts";

const MAX_P99_MS = 250;
const ROUNDS = 20;
/** All Pods of a round drain at the same time; with more Pods the host's CPU would be the limit. */
const PODS_PER_KIND = 1;

type Percentiles = {
  readonly drains: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly min: number;
};

async function measureOverWaitMs(pod: Pod, kind: TrafficKind): Promise<number> {
  const traffic = await kind.start(pod.address);
  try {
    const triggerMs = performance.now();
    const [result, lastResponseMs] = await Promise.all([pod.drain(), traffic.sendDuringDrain()]);
    if (result.outcome !== "drained") throw new Error(`${kind.name}: the drain ended as ${result.outcome}`);
    return result.releasedMs - Math.max(triggerMs + DRAIN_DELAY_MS, lastResponseMs + QUIET_PERIOD_MS);
  } finally {
    await traffic.end();
  }
}

async function runRound(round: number, overWaitsByKind: Map<string, number[]>): Promise<void> {
  const kinds = TRAFFIC_KINDS.flatMap((kind) => Array.from({ length: PODS_PER_KIND }, () => kind));
  const pods = await Promise.all(kinds.map((_, n) => startPod(`127.84.${round + 1}.${n + 1}`)));
  try {
    const overWaits = await Promise.all(kinds.map((kind, n) => measureOverWaitMs(itemAt(pods, n), kind)));
    for (const [n, kind] of kinds.entries())
      overWaitsByKind.set(kind.name, [...(overWaitsByKind.get(kind.name) ?? []), itemAt(overWaits, n)]);
  } finally {
    await Promise.all(pods.map((pod) => pod.stop()));
  }
}

function itemAt<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Error(`no item ${index}`);
  return item;
}

function percentilesOf(overWaits: readonly number[]): Percentiles {
  const sorted = [...overWaits].sort((a, b) => a - b);
  const valueAt = (share: number): number =>
    itemAt(sorted, Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1));
  const roundMs = (ms: number): number => Math.round(ms);
  return {
    drains: sorted.length,
    p50: roundMs(valueAt(0.5)),
    p99: roundMs(valueAt(0.99)),
    max: roundMs(itemAt(sorted, sorted.length - 1)),
    min: roundMs(itemAt(sorted, 0)),
  };
}

const overWaitsByKind = new Map<string, number[]>();
for (let round = 0; round < ROUNDS; round += 1) await runRound(round, overWaitsByKind);
const table = TRAFFIC_KINDS.map((kind) => ({
  traffic: kind.name,
  ...percentilesOf(overWaitsByKind.get(kind.name) ?? []),
}));
const rowsOutsideGoals = table.filter((row) => row.p99 > MAX_P99_MS || row.min < -QUIET_PERIOD_MS / 2);

if (process.argv.includes("--json")) {
  process.stdout.write(
    `${JSON.stringify({ goalMs: MAX_P99_MS, overWaitMs: table, passed: rowsOutsideGoals.length === 0 })}\n`,
  );
} else {
  process.stdout.write("over-wait in ms: release after max(trigger + drain delay, last response + quiet period)\n");
  for (const row of table) {
    const cells = [row.drains, row.p50, row.p99, row.max, row.min].map((cell) => String(cell).padStart(7));
    process.stdout.write(`${row.traffic.padEnd(18)}${cells.join("")}\n`);
  }
  process.stdout.write(`${"".padEnd(18)} drains    p50    p99    max    min   goal: p99 <= ${MAX_P99_MS}\n`);
}
if (rowsOutsideGoals.length > 0) {
  process.stderr.write(`missed: ${rowsOutsideGoals.map((row) => row.traffic).join(", ")}\n`);
  process.exitCode = 1;
}
