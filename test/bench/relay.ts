/**
 * `npm run bench:relay [-- --json] [-- --streams=N]`: the real webhook with its relay against an API server with 150 000
 * endpoints, 5 000 Pods that drain at once, and admissions in the same process meanwhile and in quiet.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "../../src/webhook/certificates/self-made.ts";
import { reviewBytes } from "./admission-reviews.ts";
import { cpuMicroseconds, residentBytes } from "./process-cost.ts";
import { accessOf, kubeconfigText, metricOf, type WebhookPlace } from "./relay-access.ts";
import { ADMISSIONS_PER_SECOND, type Admitting, admissions, ROUND_SECONDS, rounds } from "./relay-admissions.ts";
import { median, type RelayFigures, spreadOf } from "./relay-figures.ts";
import { goalsOf } from "./relay-goals.ts";
import { type ApiPlace, type Child, startChild } from "./relay-messages.ts";
import { readOptions, USAGE } from "./relay-options.ts";
import { asked, openStreams, type Scene, STREAMS_PER_SECOND, withdraw } from "./relay-scenes.ts";
import { sliceText } from "./relay-slice-text.ts";
import { textOf } from "./relay-text.ts";
import { drainingPods, NAMESPACES, PODS, SLICES } from "./relay-world.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

const HERE = import.meta.dirname;
const PROGRAM = join(HERE, "../../src/lastcall.ts");
const ASKERS = 4;
/** Slices written in a second, each with one Pod withdrawn. */
const EVENTS_PER_SECOND = 100;
const WARM_UP = 10_000;
const QUIET_ROUNDS = 3;
/** Of the Pods, whose slices change alone and beside admissions; the others' change all at once. */
const ALONE = 0.2;
const BESIDE = 0.6;
/** The relay keeps watching a namespace for a while after its last Pod. */
const LEFT_MS = 45_000;

type Bench = { readonly scene: Scene; readonly place: WebhookPlace; readonly admitting: Admitting };

async function measure({ scene, place, admitting }: Bench, streams: number): Promise<RelayFigures> {
  const { pid } = admitting;
  const loadBefore = loadavg()[0] ?? 0;
  const cpuMs = (): number => cpuMicroseconds(pid) / 1_000;
  const access = await accessOf(place);
  await admissions(admitting, WARM_UP, 0);
  const quiet = await rounds(admitting, QUIET_ROUNDS);
  const idle = residentBytes(pid);

  const pods = drainingPods(streams);
  const alone = pods.filter((_pod, index) => index % 10 < 10 * ALONE);
  const beside = pods.filter((_pod, index) => index % 10 >= 10 * ALONE && index % 10 < 10 * (ALONE + BESIDE));
  const burst = pods.filter((_pod, index) => index % 10 >= 10 * (ALONE + BESIDE));

  say(`${streams} streams begin`);
  const [openedMs, openedCpuMs] = [performance.now(), cpuMs()];
  const [openingMs, opening] = await Promise.all([
    openStreams(scene, access, pods).then(() => performance.now() - openedMs),
    rounds(admitting, roundsFor(streams / STREAMS_PER_SECOND)),
  ]);
  const admittingMs = median(quiet.map((round) => round.cpuShare)) * opening.length * ROUND_SECONDS * 1_000;
  const perStreamMs = (cpuMs() - openedCpuMs - admittingMs) / streams;
  const open = residentBytes(pid);

  say("streams are open, nothing changes");
  const heldMs = cpuMs();
  await pause(ROUND_SECONDS * 1_000);
  const openShare = (cpuMs() - heldMs) / ROUND_SECONDS / 1_000;

  say("slices change");
  const [beganMs, beganCpuMs, beganEvents] = [performance.now(), cpuMs(), await sliceEvents(place)];
  const aloneTook = await withdraw(scene, { pods: alone, perSecond: EVENTS_PER_SECOND });
  const spentMs = cpuMs() - beganCpuMs - openShare * (performance.now() - beganMs);
  const events = (await sliceEvents(place)) - beganEvents;

  say("slices change beside admissions");
  const [besideTook, during] = await Promise.all([
    withdraw(scene, { pods: beside, perSecond: EVENTS_PER_SECOND }),
    rounds(admitting, roundsFor(beside.length / EVENTS_PER_SECOND)),
  ]);

  say("the others' slices change at once");
  const burstMs = performance.now();
  const burstTook = await withdraw(scene, { pods: burst, perSecond: 0 });
  const burstSeconds = (performance.now() - burstMs) / 1_000;
  const told = residentBytes(pid);
  const { broken, why } = await asked(scene);

  say("everybody leaves");
  for (const asker of scene.askers) await asker.stop();
  await pause(LEFT_MS);
  const left = residentBytes(pid);
  const quietAgain = await rounds(admitting, QUIET_ROUNDS);
  return {
    cores: availableParallelism(),
    loadAverage: { before: loadBefore, after: loadavg()[0] ?? 0 },
    world: { endpoints: PODS, slices: SLICES, namespaces: NAMESPACES, sliceBytes: sliceText(0, 1, new Set()).length },
    streams,
    openingSeconds: openingMs / 1_000,
    memory: { idle, open, told, left },
    cpu: { openShare, perEventMs: spentMs / events, events, perStreamMs },
    told: { beside: spreadOf(besideTook), alone: spreadOf(aloneTook), burst: spreadOf(burstTook) },
    burstSeconds,
    admissions: { perSecond: ADMISSIONS_PER_SECOND, quiet: [...quiet, ...quietAgain], opening, events: during },
    eventsPerSecond: EVENTS_PER_SECOND,
    broken,
    why,
  };
}

/** Whole rounds that fit into the time, so that all of each runs beside what it is to run beside. */
function roundsFor(seconds: number): number {
  return Math.max(1, Math.floor(seconds / ROUND_SECONDS));
}

function sliceEvents(place: WebhookPlace): Promise<number> {
  return metricOf(place, "lastcall_relay_slice_events_total");
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function say(what: string): void {
  process.stderr.write(`${what}\n`);
}

async function run(streams: number): Promise<RelayFigures> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-bench-"));
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  const children: Child[] = [];
  let webhook: ServerProcess | undefined;
  try {
    const made = await makeCertificate("lastcall", Date.now());
    const { cert, key } = made.source.current();
    const [certFile, keyFile] = [file("tls.crt", cert), file("tls.key", key)];
    const caFile = file("ca.crt", made.caCertificate);
    const bodyFile = file("review.json", reviewBytes("small"));
    const api = startChild(join(HERE, "relay-api-server.ts"), [certFile, keyFile]);
    children.push(api);
    const { port: apiPort } = await api.order<ApiPlace>({ asks: "place" });
    const flags = [
      "--port=0",
      "--host=127.0.0.1",
      "--opt-in=all",
      "--cluster=watch",
      `--cert=${certFile}`,
      `--key=${keyFile}`,
      `--kubeconfig=${file("kubeconfig", kubeconfigText(apiPort, made.caCertificate))}`,
      "--relay-secret=lastcall-relay",
      "--relay-address=127.0.0.1:8443",
    ];
    webhook = await startServer("webhook", [PROGRAM, "webhook", ...flags], join(folder, "webhook.log"));
    const { port, pid } = webhook;
    const askers = Array.from({ length: ASKERS }, () => startChild(join(HERE, "relay-asker.ts")));
    children.push(...askers);
    const bench: Bench = {
      scene: { port, api, askers },
      place: { port, ca: made.caCertificate },
      admitting: { port, pid, caFile, bodyFile },
    };
    return await measure(bench, streams);
  } finally {
    await webhook?.stop();
    for (const child of children) await child.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const options = readOptions(process.argv.slice(2));
if (options === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 64;
} else {
  const figures = await run(options.streams);
  process.stdout.write(options.json ? `${JSON.stringify({ ...figures, goals: goalsOf(figures) })}\n` : textOf(figures));
}
