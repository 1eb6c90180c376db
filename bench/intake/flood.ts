/**
 * `npm run bench:flood [-- --tree=FOLDER …] [-- --turns=6]`: measures memory and throughput of the webhook, run as in its
 * image, under 2 000 reviews of 265 KB and then 100 000 small reviews on 8 connections. `--tree` adds another checkout with
 * installed packages, bundled by its own `release`, to the same run: rates of two runs are not comparable.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { WEBHOOK_FLAGS } from "../../e2e/images/image-table.ts";
import type { bundleInto } from "../../release/bundle.ts";
import { makeCertificate } from "../../src/webhook/certificates/self-made.ts";
import { reviewBytes, SIZES, type Size } from "../admission-reviews.ts";
import type { LoadResult, LoadSettings } from "../load-generator.ts";
import { readCpuMicroseconds, readPeakResidentBytes } from "../process-cost.ts";
import { type ServerProcess, startServer } from "../server-process.ts";

const INTAKE_FOLDER = import.meta.dirname;
const CONNECTIONS = 8;
const REQUESTS: Readonly<Record<Size, number>> = { large: 2_000, small: 100_000 };
// Large reviews cause the peak of memory, so they come first.
const SIZE_ORDER: readonly Size[] = ["large", "small"];
/** Each turn starts one process per program. The speeds of a program's processes differ by 15 %, because V8 compiles different code. */
const DEFAULT_TURNS = 6;

type Program = {
  readonly name: string;
  readonly args: readonly string[];
  readonly peakMb: number[];
  readonly perSecond: Record<Size, number[]>;
  readonly cpuMicroseconds: Record<Size, number[]>;
};

function createProgram(name: string, args: readonly string[]): Program {
  return { name, args, peakMb: [], perSecond: { small: [], large: [] }, cpuMicroseconds: { small: [], large: [] } };
}

async function sendLoad(folder: string, server: ServerProcess, size: Size): Promise<LoadResult> {
  const files = { caFile: join(folder, "ca.crt"), bodyFile: join(folder, `${size}.json`) };
  const load = { connections: CONNECTIONS, requests: REQUESTS[size], perSecond: 0 };
  const settings: LoadSettings = { port: server.port, ...files, ...load };
  const child = spawn(process.execPath, [join(INTAKE_FOLDER, "../load-generator.ts"), JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  await new Promise((resolve) => child.once("close", resolve));
  const result: LoadResult = JSON.parse(text);
  if (result.failed > 0) throw new Error(`${server.name}: ${result.failed} admissions failed`);
  return result;
}

async function measureProgram(
  folder: string,
  { name, args, ...results }: Program,
  flags: readonly string[],
): Promise<void> {
  const server = await startServer(name, [...args, ...flags], join(folder, "server.log"));
  try {
    for (const size of SIZE_ORDER) {
      const cpuBefore = readCpuMicroseconds(server.pid);
      const { answered, seconds } = await sendLoad(folder, server, size);
      results.perSecond[size].push(answered / seconds);
      results.cpuMicroseconds[size].push((readCpuMicroseconds(server.pid) - cpuBefore) / answered);
    }
    results.peakMb.push((readPeakResidentBytes(server.pid) ?? 0) / 1e6);
  } finally {
    await server.stop();
  }
}

function formatResults({ name, peakMb, perSecond, cpuMicroseconds }: Program, reference: Program): string {
  const rates = SIZES.map((size) => {
    const rate = median(perSecond[size]);
    const ratio = (rate / median(reference.perSecond[size])).toFixed(2);
    return `${size} ${rate.toFixed(0)} (x ${ratio}), ${median(cpuMicroseconds[size]).toFixed(0)} µs of CPU time each`;
  });
  const memory = `peak resident memory ${Math.max(...peakMb).toFixed(0)} MB`;
  return `${name}: ${memory}; admissions per second: ${rates.join("; ")}`;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

const { values } = parseArgs({
  options: { tree: { type: "string", multiple: true }, turns: { type: "string", default: String(DEFAULT_TURNS) } },
});
const turns = Number(values.turns);
if (!Number.isInteger(turns) || turns < 1)
  throw new Error(`--turns got "${values.turns}", expected a whole number from 1`);
const folder = mkdtempSync(join(tmpdir(), "lastcall-flood-"));
try {
  const certificate = await makeCertificate("lastcall", Date.now());
  writeFileSync(join(folder, "tls.crt"), certificate.source.current().cert);
  writeFileSync(join(folder, "tls.key"), certificate.source.current().key);
  writeFileSync(join(folder, "ca.crt"), certificate.caCertificate);
  for (const size of SIZES) writeFileSync(join(folder, `${size}.json`), reviewBytes(size));
  const programs: Program[] = [];
  for (const [index, tree] of [...(values.tree ?? []), join(INTAKE_FOLDER, "../..")].entries()) {
    const releaseModule: { readonly bundleInto: typeof bundleInto } = await import(resolve(tree, "release/bundle.ts"));
    const bundleFolder = join(folder, `tree-${index}`);
    await releaseModule.bundleInto(bundleFolder);
    programs.push(createProgram(resolve(tree), [...WEBHOOK_FLAGS, join(bundleFolder, "lastcall/lastcall.mjs")]));
  }
  const certificateFlags = [`--cert=${join(folder, "tls.crt")}`, `--key=${join(folder, "tls.key")}`];
  const flags = ["webhook", "--port=0", "--host=127.0.0.1", "--opt-in=all", ...certificateFlags];
  process.stdout.write(`load average before: ${loadavg()[0]?.toFixed(1)}\n`);
  for (let turn = 0; turn < turns; turn += 1) {
    // Alternating the order spreads slow changes of the host's load over all programs.
    for (const program of turn % 2 === 0 ? programs : [...programs].reverse())
      await measureProgram(folder, program, flags);
  }
  for (const program of programs) process.stdout.write(`${formatResults(program, programs[0] ?? program)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
