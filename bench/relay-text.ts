/** How a person reads the figures of the relay's benchmark. */
import {
  type AdmissionRounds,
  bestP99,
  median,
  type RelayFigures,
  type Spread,
  timesAside,
  timesQuiet,
} from "./relay-figures.ts";
import { goalsOf } from "./relay-goals.ts";

export function textOf(figures: RelayFigures): string {
  const { world, memory, cpu, told, admissions, streams, eventsPerSecond } = figures;
  const { before, after } = figures.loadAverage;
  const lines = [
    `${figures.cores} cores for the webhook, the API server, the Pods and the load; load average ${before.toFixed(2)} before, ${after.toFixed(2)} after.`,
    `${world.endpoints} endpoints in ${world.slices} slices of ${world.sliceBytes} bytes, ${world.namespaces} namespaces; ${streams} Pods drain at once.`,
    `What stands for other machines, the Pods and the API server, runs only in the time that the webhook and the admissions' load leave: shared evenly, two cores would measure those.`,
    "",
    `memory of the process: ${megabytes(memory.idle)} idle, ${megabytes(memory.open)} with all streams open,`,
    `  ${megabytes(memory.told)} when all were told, ${megabytes(memory.left)} with no one left;`,
    `  ${megabytes(figures.relayHeap)} of it the heap of the relay's thread with all streams open`,
    `CPU: ${cpu.perEventMs.toFixed(3)} ms per slice event (${cpu.events} of them), ${cpu.perStreamMs.toFixed(2)} ms to begin a stream (${cpu.perStreamBesideMs.toFixed(2)} of it by the admissions' thread),`,
    `  the admissions' thread for each admission: ${ownMs(admissions.quiet)} ms in quiet, ${ownMs(admissions.opening)} while streams begin, ${ownMs(admissions.events)} while slices change,`,
    `  ${percent(cpu.openShare)} of a core for the heartbeats of all, ${percent(cpu.thousandHeartbeatsShare)} for every 1000 that wait for nothing else`,
    `all streams began in ${figures.openingSeconds.toFixed(1)} s`,
    "",
    "from slice written to line read      Pods     p50 ms     p99 ms     max ms",
    spreadLine(`${eventsPerSecond} changes/s beside admissions`, told.beside),
    spreadLine(`${eventsPerSecond} changes/s alone`, told.alone),
    spreadLine(`all at once, in ${figures.burstSeconds.toFixed(1)} s`, told.burst),
    "",
    `${admissions.perSecond} admissions/s                    p50 ms     p99 ms   p99 elsewhere            p99 of each round; left of it that of the best`,
    roundsLine("in quiet", admissions.quiet),
    roundsLine(
      `while streams begin (x ${timesQuiet(figures, admissions.opening).here.toFixed(2)})`,
      admissions.opening,
    ),
    roundsLine(`while slices change (x ${timesQuiet(figures, admissions.events).here.toFixed(2)})`, admissions.events),
    "elsewhere: a second webhook without drains, asked in turns with the first; it shows what the machine does to both",
    "",
  ];
  if (figures.broken > 0) lines.push(`${figures.broken} streams broke: ${figures.why}`, "");
  for (const { goal, found, met } of goalsOf(figures)) lines.push(`${met ? "met   " : "missed"}  ${goal} (${found})`);
  return `${lines.join("\n")}\n`;
}

function spreadLine(what: string, { count, p50, p99, max }: Spread): string {
  return [what.padEnd(34), String(count).padStart(7), ...[p50, p99, max].map((ms) => ms.toFixed(1).padStart(11))].join(
    "",
  );
}

function roundsLine(what: string, rounds: AdmissionRounds): string {
  const { here, aside } = rounds;
  const cells = [median(here.map((round) => round.p50)), bestP99(here), bestP99(aside)];
  const each = here.map((round) => round.p99.toFixed(2)).join(", ");
  const widths = [9, 11, 16];
  const row = cells.map((ms, index) => ms.toFixed(2).padStart(widths[index] ?? 0)).join("");
  return `${what.padEnd(34)}${row} (x ${timesAside(rounds).toFixed(2)})   ${each}`;
}

function ownMs({ here }: AdmissionRounds): string {
  return median(here.map(({ ownCpuMs }) => ownCpuMs)).toFixed(3);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
