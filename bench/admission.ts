/**
 * `npm run bench:admission [-- --json] [-- --soak]`: measures the webhook and a baseline server in turns, so that other load of
 * the host affects both. CPU time per request is the main result, because it hardly depends on other processes. `--soak` sends
 * 100 000 instead of 20 000 requests before the final memory is compared with the memory at the start.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { makeCertificate } from "../src/webhook/certificates/self-made.ts";
import { checkGoals } from "./admission-goals.ts";
import { reviewBytes, SIZES, type Size } from "./admission-reviews.ts";
import { type AdmissionResults, formatResults, type ServerResults, shareOfBaseline } from "./admission-text.ts";
import { measureIdleMemory } from "./idle-memory.ts";
import type { LoadResult, LoadSettings } from "./load-generator.ts";
import { readCpuMicroseconds, readResidentBytes } from "./process-cost.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

const BENCH_FOLDER = import.meta.dirname;
const PROGRAM = join(BENCH_FOLDER, "../src/lastcall.ts");
const CONNECTIONS = 8;
/** The warm-up is long enough for V8 to compile the code, as in a server that runs for days. */
const PLAN = {
  small: { warmUp: 20_000, rounds: 7, requests: 3_000, half: 4_000 },
  large: { warmUp: 500, rounds: 7, requests: 200, half: 500 },
} as const;
const SOAK = { full: 100_000, short: 20_000, steps: 5 } as const;

type BenchFiles = { readonly folder: string; readonly cert: string; readonly key: string; readonly ca: string };

function sendLoad(
  files: BenchFiles,
  server: ServerProcess,
  size: Size,
  rate: Pick<LoadSettings, "requests" | "perSecond">,
): Promise<LoadResult> {
  const bodyFile = join(files.folder, `${size}.json`);
  const settings: LoadSettings = { port: server.port, caFile: files.ca, bodyFile, connections: CONNECTIONS, ...rate };
  const child = spawn(process.execPath, [join(BENCH_FOLDER, "load-generator.ts"), JSON.stringify(settings)], {
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

async function measureRound(bench: BenchFiles, server: ServerProcess, size: Size): Promise<Round> {
  const before = readCpuMicroseconds(server.pid);
  const result = await sendLoad(bench, server, size, { requests: PLAN[size].requests, perSecond: 0 });
  return { cpu: (readCpuMicroseconds(server.pid) - before) / result.answered, load: result };
}

async function measure(bench: BenchFiles, servers: readonly ServerProcess[], size: Size): Promise<ServerResults[]> {
  const rounds = new Map<string, Round[]>();
  for (const server of servers) {
    await sendLoad(bench, server, size, { requests: PLAN[size].warmUp, perSecond: 0 });
    rounds.set(server.name, []);
  }
  for (let turn = 0; turn < PLAN[size].rounds; turn += 1) {
    // Alternating the order distributes slow changes of the host's load over both servers.
    for (const server of turn % 2 === 0 ? servers : [...servers].reverse()) {
      rounds.get(server.name)?.push(await measureRound(bench, server, size));
    }
  }
  const results: ServerResults[] = [];
  for (const server of servers) {
    const measured = rounds.get(server.name) ?? [];
    const perSecond = median(measured.map((each) => each.load.answered / each.load.seconds));
    const halfLoad = await sendLoad(bench, server, size, { requests: PLAN[size].half, perSecond: perSecond / 2 });
    const cpu = median(measured.map((each) => each.cpu));
    results.push({
      server: server.name,
      cpuMicroseconds: cpu,
      perSecondPerCore: 1e6 / cpu,
      perSecond,
      p50Ms: median(measured.map((each) => each.load.p50)),
      p99Ms: median(measured.map((each) => each.load.p99)),
      p999Ms: median(measured.map((each) => each.load.p999)),
      halfLoadP99Ms: halfLoad.p99,
    });
  }
  return results;
}

async function measureSoak(bench: BenchFiles, server: ServerProcess, requests: number): Promise<number[]> {
  const bytes = [readResidentBytes(server.pid)];
  for (let step = 0; step < SOAK.steps; step += 1) {
    await sendLoad(bench, server, "small", { requests: requests / SOAK.steps, perSecond: 0 });
    bytes.push(readResidentBytes(server.pid));
  }
  return bytes;
}

async function runBenchmark(isFullSoak: boolean): Promise<AdmissionResults> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-bench-"));
  const bench = { folder, cert: join(folder, "tls.crt"), key: join(folder, "tls.key"), ca: join(folder, "ca.crt") };
  const running: ServerProcess[] = [];
  const loadBefore = oneMinuteLoad();
  try {
    const certificate = await makeCertificate("lastcall", Date.now());
    writeFileSync(bench.cert, certificate.source.current().cert);
    writeFileSync(bench.key, certificate.source.current().key);
    writeFileSync(bench.ca, certificate.caCertificate);
    for (const size of SIZES) writeFileSync(join(folder, `${size}.json`), reviewBytes(size));
    const idle = await measureIdleMemory(folder, bench);
    const pair = [`--cert=${bench.cert}`, `--key=${bench.key}`];
    const webhook = [PROGRAM, "webhook", "--port=0", "--host=127.0.0.1", "--opt-in=all", ...pair];
    const baselineArgs = [join(BENCH_FOLDER, "baseline-server.ts"), bench.cert, bench.key];
    running.push(await startServer("baseline", baselineArgs, join(folder, "baseline.log")));
    running.push(await startServer("webhook", webhook, join(folder, "webhook.log")));
    const small = await measure(bench, running, "small");
    const large = await measure(bench, running, "large");
    const soakRequests = isFullSoak ? SOAK.full : SOAK.short;
    const webhookServers = running.filter((server) => server.name === "webhook");
    const memory = webhookServers[0] === undefined ? [] : await measureSoak(bench, webhookServers[0], soakRequests);
    const bytes = { small: reviewBytes("small").length, large: reviewBytes("large").length };
    const share = { small: shareOfBaseline(small), large: shareOfBaseline(large) };
    return {
      cores: availableParallelism(),
      loadAverage: { before: loadBefore, after: oneMinuteLoad() },
      bytes,
      small,
      large,
      shareOfBaseline: share,
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

const results = await runBenchmark(process.argv.includes("--soak"));
process.stdout.write(
  process.argv.includes("--json")
    ? `${JSON.stringify({ ...results, goals: checkGoals(results) })}\n`
    : formatResults(results),
);
