/** Prints the results of the relay benchmark as text. */
import { checkGoals } from "./relay-goals.ts";
import {
  type AdmissionRounds,
  bestP99,
  median,
  type RelayResults,
  ratioToControl,
  ratioToQuiet,
  type Spread,
} from "./relay-results.ts";

export function formatResults(results: RelayResults): string {
  const { cluster, memory, cpu, withdrawalMs, admissions, streams, eventsPerSecond } = results;
  const { before, after } = results.loadAverage;
  const lines = [
    `${results.cores} cores for the webhook, the API server, the Pods and the load; load average ${before.toFixed(2)} before, ${after.toFixed(2)} after.`,
    `${cluster.endpoints} endpoints in ${cluster.slices} slices of ${cluster.sliceBytes} bytes, ${cluster.namespaces} namespaces; ${streams} Pods drain at once.`,
    "The Pods and the API server stand for other hosts, so they get only the CPU time that the webhook and the admissions leave.",
    "",
    `memory of the webhook: ${formatMegabytes(memory.idle)} idle, ${formatMegabytes(memory.open)} with all streams open,`,
    `  ${formatMegabytes(memory.withdrawn)} after all withdrawals, ${formatMegabytes(memory.closed)} after all streams closed;`,
    `  ${formatMegabytes(results.relayHeap)} in the heap of the relay's thread with all streams open`,
    `CPU: ${cpu.perEventMs.toFixed(3)} ms per slice event (${cpu.events} of them), ${cpu.perStreamMs.toFixed(2)} ms to open a stream (${cpu.perStreamMainMs.toFixed(2)} of it on the main thread),`,
    `  on the main thread for each admission: ${mainThreadText(admissions.quiet)} ms without drains, ${mainThreadText(admissions.opening)} while streams open, ${mainThreadText(admissions.events)} while slices change,`,
    `  ${formatPercent(cpu.openShare)} of a core for the heartbeats of all streams, ${formatPercent(cpu.thousandHeartbeatsShare)} for every 1000 Pods that wait only for the relay`,
    `all streams opened in ${results.openingSeconds.toFixed(1)} s`,
    "",
    "slice write to status line read      Pods     p50 ms     p99 ms     max ms",
    formatSpread(`${eventsPerSecond} changes/s during admissions`, withdrawalMs.beside),
    formatSpread(`${eventsPerSecond} changes/s, no admissions`, withdrawalMs.alone),
    formatSpread(`all at once, in ${results.burstSeconds.toFixed(1)} s`, withdrawalMs.burst),
    "",
    `${admissions.perSecond} admissions/s                    p50 ms     p99 ms     p99 control            p99 of each round; p99 is that of the best round`,
    formatRounds("without drains", admissions.quiet),
    formatRounds(
      `while streams open (x ${ratioToQuiet(results, admissions.opening).draining.toFixed(2)})`,
      admissions.opening,
    ),
    formatRounds(
      `while slices change (x ${ratioToQuiet(results, admissions.events).draining.toFixed(2)})`,
      admissions.events,
    ),
    "control: a second webhook without drains, measured in turns with the first; it shows the effect of other load on the host",
    "",
  ];
  if (results.broken > 0) lines.push(`${results.broken} streams broke: ${results.brokenReason}`, "");
  for (const { title, measured, met } of checkGoals(results))
    lines.push(`${met ? "met   " : "missed"}  ${title} (${measured})`);
  return `${lines.join("\n")}\n`;
}

function formatSpread(name: string, { count, p50, p99, max }: Spread): string {
  return [name.padEnd(34), String(count).padStart(7), ...[p50, p99, max].map((ms) => ms.toFixed(1).padStart(11))].join(
    "",
  );
}

function formatRounds(name: string, rounds: AdmissionRounds): string {
  const { draining, control } = rounds;
  const cells = [median(draining.map((round) => round.p50)), bestP99(draining), bestP99(control)];
  const roundTexts = draining.map((round) => round.p99.toFixed(2)).join(", ");
  const widths = [9, 11, 16];
  const row = cells.map((ms, index) => ms.toFixed(2).padStart(widths[index] ?? 0)).join("");
  return `${name.padEnd(34)}${row} (x ${ratioToControl(rounds).toFixed(2)})   ${roundTexts}`;
}

function mainThreadText({ draining }: AdmissionRounds): string {
  return median(draining.map((round) => round.mainThreadMs)).toFixed(3);
}

function formatPercent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
