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
  small: { warmUp: 20_000, rounds: 7, requests: 3_000, halfLoadRequests: 4_000 },
  large: { warmUp: 500, rounds: 7, requests: 200, halfLoadRequests: 500 },
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

type Round = { readonly cpuMicroseconds: number; readonly result: LoadResult };

async function measureRound(files: BenchFiles, server: ServerProcess, size: Size): Promise<Round> {
  const cpuBefore = readCpuMicroseconds(server.pid);
  const result = await sendLoad(files, server, size, { requests: PLAN[size].requests, perSecond: 0 });
  return { cpuMicroseconds: (readCpuMicroseconds(server.pid) - cpuBefore) / result.answered, result };
}

async function measure(files: BenchFiles, servers: readonly ServerProcess[], size: Size): Promise<ServerResults[]> {
  const rounds = new Map<string, Round[]>();
  for (const server of servers) {
    await sendLoad(files, server, size, { requests: PLAN[size].warmUp, perSecond: 0 });
    rounds.set(server.name, []);
  }
  for (let turn = 0; turn < PLAN[size].rounds; turn += 1) {
    // Alternating the order distributes slow changes of the host's load over both servers.
    for (const server of turn % 2 === 0 ? servers : [...servers].reverse()) {
      rounds.get(server.name)?.push(await measureRound(files, server, size));
    }
  }
  const results: ServerResults[] = [];
  for (const server of servers) {
    const serverRounds = rounds.get(server.name) ?? [];
    const perSecond = median(serverRounds.map((each) => each.result.answered / each.result.seconds));
    const halfLoadResult = await sendLoad(files, server, size, {
      requests: PLAN[size].halfLoadRequests,
      perSecond: perSecond / 2,
    });
    const cpuMicroseconds = median(serverRounds.map((each) => each.cpuMicroseconds));
    results.push({
      server: server.name,
      cpuMicroseconds,
      perSecondPerCore: 1e6 / cpuMicroseconds,
      perSecond,
      p50Ms: median(serverRounds.map((each) => each.result.p50)),
      p99Ms: median(serverRounds.map((each) => each.result.p99)),
      p999Ms: median(serverRounds.map((each) => each.result.p999)),
      halfLoadP99Ms: halfLoadResult.p99,
    });
  }
  return results;
}

async function measureSoak(files: BenchFiles, server: ServerProcess, requests: number): Promise<number[]> {
  const bytes = [readResidentBytes(server.pid)];
  for (let step = 0; step < SOAK.steps; step += 1) {
    await sendLoad(files, server, "small", { requests: requests / SOAK.steps, perSecond: 0 });
    bytes.push(readResidentBytes(server.pid));
  }
  return bytes;
}

async function runBenchmark(isFullSoak: boolean): Promise<AdmissionResults> {
  const folder = mkdtempSync(join(tmpdir(), "lastcall-bench-"));
  const files = { folder, cert: join(folder, "tls.crt"), key: join(folder, "tls.key"), ca: join(folder, "ca.crt") };
  const servers: ServerProcess[] = [];
  const loadBefore = oneMinuteLoad();
  try {
    const certificate = await makeCertificate("lastcall", Date.now());
    writeFileSync(files.cert, certificate.source.current().cert);
    writeFileSync(files.key, certificate.source.current().key);
    writeFileSync(files.ca, certificate.caCertificate);
    for (const size of SIZES) writeFileSync(join(folder, `${size}.json`), reviewBytes(size));
    const idle = await measureIdleMemory(folder, files);
    const certificateFlags = [`--cert=${files.cert}`, `--key=${files.key}`];
    const webhookArgs = [PROGRAM, "webhook", "--port=0", "--host=127.0.0.1", "--opt-in=all", ...certificateFlags];
    const baselineArgs = [join(BENCH_FOLDER, "baseline-server.ts"), files.cert, files.key];
    servers.push(await startServer("baseline", baselineArgs, join(folder, "baseline.log")));
    servers.push(await startServer("webhook", webhookArgs, join(folder, "webhook.log")));
    const small = await measure(files, servers, "small");
    const large = await measure(files, servers, "large");
    const soakRequests = isFullSoak ? SOAK.full : SOAK.short;
    const webhookServers = servers.filter((server) => server.name === "webhook");
    const soakBytes = webhookServers[0] === undefined ? [] : await measureSoak(files, webhookServers[0], soakRequests);
    const bytes = { small: reviewBytes("small").length, large: reviewBytes("large").length };
    const shares = { small: shareOfBaseline(small), large: shareOfBaseline(large) };
    return {
      cores: availableParallelism(),
      loadAverage: { before: loadBefore, after: oneMinuteLoad() },
      bytes,
      small,
      large,
      shareOfBaseline: shares,
      idle,
      soakRequests,
      soakBytes,
    };
  } finally {
    for (const server of servers) await server.stop();
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
