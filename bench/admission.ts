/**
 * `npm run bench:admission [-- --json] [-- --soak]`: the real webhook beside the floor server, in turns in one run, so
 * that both see the same machine. The first figure is CPU time per request: it hardly depends on the otherProcesses.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "../src/webhook/certificates/self-made.ts";
import { goalsOf } from "./admission-goals.ts";
import { reviewBytes, SIZES, type Size } from "./admission-reviews.ts";
import { type AdmissionFigures, type ServerFigures, shareOfFloor, textOf } from "./admission-text.ts";
import { idleMemory } from "./idle-memory.ts";
import type { LoadOrder, LoadResult } from "./load-generator.ts";
import { cpuMicroseconds, residentBytes } from "./process-cost.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

const HERE = import.meta.dirname;
const PROGRAM = join(HERE, "../src/lastcall.ts");
const CONNECTIONS = 8;
/** A server that lives for days is asked long enough for the compiler to have settled; both are. */
const PLAN = {
  small: { warmUp: 20_000, rounds: 7, requests: 3_000, half: 4_000 },
  large: { warmUp: 500, rounds: 7, requests: 200, half: 500 },
} as const;
const SOAK = { full: 100_000, short: 20_000, steps: 5 } as const;

type Bench = { readonly folder: string; readonly cert: string; readonly key: string; readonly ca: string };

function load(
  bench: Bench,
  server: ServerProcess,
  size: Size,
  how: Pick<LoadOrder, "requests" | "perSecond">,
): Promise<LoadResult> {
  const bodyFile = join(bench.folder, `${size}.json`);
  const order: LoadOrder = { port: server.port, caFile: bench.ca, bodyFile, connections: CONNECTIONS, ...how };
  const child = spawn(process.execPath, [join(HERE, "load-generator.ts"), JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once("close", (status) => {
      const result: LoadResult | undefined = status === 0 ? JSON.parse(text) : undefined;
      if (result === undefined || result.failed > 0) reject(new Error(`${server.name}: the load failed: ${text}`));
      else resolve(result);
    });
  });
}

type Round = { readonly cpu: number; readonly load: LoadResult };

async function round(bench: Bench, server: ServerProcess, size: Size): Promise<Round> {
  const before = cpuMicroseconds(server.pid);
  const result = await load(bench, server, size, { requests: PLAN[size].requests, perSecond: 0 });
  return { cpu: (cpuMicroseconds(server.pid) - before) / result.answered, load: result };
}

async function measure(bench: Bench, servers: readonly ServerProcess[], size: Size): Promise<ServerFigures[]> {
  const rounds = new Map<string, Round[]>();
  for (const server of servers) {
    await load(bench, server, size, { requests: PLAN[size].warmUp, perSecond: 0 });
    rounds.set(server.name, []);
  }
  for (let turn = 0; turn < PLAN[size].rounds; turn += 1) {
    // The order changes, so that a drift of the machine hits both alike.
    for (const server of turn % 2 === 0 ? servers : [...servers].reverse()) {
      rounds.get(server.name)?.push(await round(bench, server, size));
    }
  }
  const figures: ServerFigures[] = [];
  for (const server of servers) {
    const seen = rounds.get(server.name) ?? [];
    const perSecond = median(seen.map((each) => each.load.answered / each.load.seconds));
    const half = await load(bench, server, size, { requests: PLAN[size].half, perSecond: perSecond / 2 });
    const cpu = median(seen.map((each) => each.cpu));
    figures.push({
      server: server.name,
      cpuMicroseconds: cpu,
      perSecondPerCore: 1e6 / cpu,
      perSecond,
      p50Ms: median(seen.map((each) => each.load.p50)),
      p99Ms: median(seen.map((each) => each.load.p99)),
      p999Ms: median(seen.map((each) => each.load.p999)),
      halfLoadP99Ms: half.p99,
    });
  }
  return figures;
}

async function soak(bench: Bench, server: ServerProcess, requests: number): Promise<number[]> {
  const bytes = [residentBytes(server.pid)];
  for (let step = 0; step < SOAK.steps; step += 1) {
    await load(bench, server, "small", { requests: requests / SOAK.steps, perSecond: 0 });
    bytes.push(residentBytes(server.pid));
  }
  return bytes;
}

async function run(full: boolean): Promise<AdmissionFigures> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-bench-"));
  const bench = { folder, cert: join(folder, "tls.crt"), key: join(folder, "tls.key"), ca: join(folder, "ca.crt") };
  const running: ServerProcess[] = [];
  const loadBefore = oneMinuteLoad();
  try {
    const made = await makeCertificate("lastcall", Date.now());
    writeFileSync(bench.cert, made.source.current().cert);
    writeFileSync(bench.key, made.source.current().key);
    writeFileSync(bench.ca, made.caCertificate);
    for (const size of SIZES) writeFileSync(join(folder, `${size}.json`), reviewBytes(size));
    const idle = await idleMemory(folder, bench);
    const pair = [`--cert=${bench.cert}`, `--key=${bench.key}`];
    const webhook = [PROGRAM, "webhook", "--port=0", "--host=127.0.0.1", "--opt-in=all", ...pair];
    const floorArgs = [join(HERE, "floor-server.ts"), bench.cert, bench.key];
    running.push(await startServer("floor", floorArgs, join(folder, "floor.log")));
    running.push(await startServer("webhook", webhook, join(folder, "webhook.log")));
    const small = await measure(bench, running, "small");
    const large = await measure(bench, running, "large");
    const soakRequests = full ? SOAK.full : SOAK.short;
    const soaked = running.filter((server) => server.name === "webhook");
    const memory = soaked[0] === undefined ? [] : await soak(bench, soaked[0], soakRequests);
    const bytes = { small: reviewBytes("small").length, large: reviewBytes("large").length };
    const share = { small: shareOfFloor(small), large: shareOfFloor(large) };
    return {
      cores: availableParallelism(),
      loadAverage: { before: loadBefore, after: oneMinuteLoad() },
      bytes,
      small,
      large,
      shareOfFloor: share,
      idle,
      soakRequests,
      soakBytes: memory,
    };
  } finally {
    for (const server of running) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function oneMinuteLoad(): number {
  return loadavg()[0] ?? 0;
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

const figures = await run(process.argv.includes("--soak"));
process.stdout.write(
  process.argv.includes("--json") ? `${JSON.stringify({ ...figures, goals: goalsOf(figures) })}\n` : textOf(figures),
);
