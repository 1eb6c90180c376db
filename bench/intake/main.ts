/**
 * `npm run bench:intake [-- ATTACK…] [-- --program=FILE] [-- --addresses=16] [-- --client-ca]`: the real webhook under each
 * attack of a client that has no right and no certificate, with an API server's reviews and a kubelet's probes beside it, and
 * before that without one. Each attack and its control have a server of their own. Exits with 1 where a call beside an attack took longer than 5 s.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { WEBHOOK_FLAGS } from "../../e2e/images/image-table.ts";
import { makeCaPair } from "../../src/authority/signing.ts";
import { makeCertificate } from "../../src/webhook/certificates/self-made.ts";
import { reviewBytes } from "../admission-reviews.ts";
import { clientPair } from "../client-pair.ts";
import { mostResidentBytes } from "../process-cost.ts";
import { type ServerProcess, startServer } from "../server-process.ts";
import type { Answered, AskOrder, AskResult } from "./asker.ts";
import { ATTACKS, type AttackTally, TOGETHER } from "./attacks.ts";

const HERE = import.meta.dirname;
/** The attack stands by then. */
const SETTLE_MS = 5_000;
const SECONDS = 20;
const CONTROL_SECONDS = 5;
const HOUR_MS = 3_600_000;

/** `clientFile`: JSON of a {@link Pair}; empty where the webhook demands no certificate. */
type Place = { readonly folder: string; readonly program: string; readonly clientFile: string };

async function start({ folder, program, clientFile }: Place, name: string): Promise<ServerProcess> {
  const pair = [`--cert=${join(folder, "tls.crt")}`, `--key=${join(folder, "tls.key")}`];
  // As the image starts Node: these bound its memory.
  const args = [...WEBHOOK_FLAGS, program, "webhook", "--port=0", "--host=127.0.0.1", "--opt-in=all", ...pair];
  if (clientFile !== "") args.push(`--client-ca=${join(folder, "client-ca.crt")}`);
  return startServer(name, args, join(folder, `${name}.log`));
}

async function ask({ folder, clientFile }: Place, port: number, seconds: number): Promise<AskResult> {
  const files = { caFile: join(folder, "ca.crt"), bodyFile: join(folder, "small.json"), clientFile };
  const order: AskOrder = { port, ...files, seconds };
  const child = spawn(process.execPath, [join(HERE, "asker.ts"), JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(await allOf(child));
}

async function writeClient(folder: string): Promise<string> {
  const nowMs = Date.now();
  const ca = await makeCaPair("clients", { fromMs: nowMs - HOUR_MS, untilMs: nowMs + HOUR_MS });
  writeFileSync(join(folder, "client-ca.crt"), ca.cert);
  const file = join(folder, "client.json");
  writeFileSync(file, JSON.stringify(await clientPair(ca)));
  return file;
}

async function allOf(child: ChildProcess): Promise<string> {
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  await once(child, "close");
  return text;
}

async function refused({ folder }: Place, port: number): Promise<string> {
  const { get } = await import("node:https");
  const ca = readFileSync(join(folder, "ca.crt"));
  const where = { host: "127.0.0.1", port, ca, servername: "localhost", path: "/metrics", agent: false } as const;
  const text = await new Promise<string>((resolve) => {
    const sent = get(where, (reply) => {
      let all = "";
      reply.setEncoding("utf8");
      reply.on("data", (chunk: string) => {
        all += chunk;
      });
      reply.once("end", () => resolve(all));
    });
    sent.once("error", () => resolve(""));
  });
  const found = [...text.matchAll(/^lastcall_requests_refused_total\{reason="([a-z_]+)"\} ([1-9][0-9]*)$/gm)];
  return found.map(([, reason, times]) => `${reason} ${times}`).join(", ") || "nothing";
}

/** @returns whether every call beside the attack was answered in time */
async function round(place: Place, kind: string): Promise<boolean> {
  const server = await start(place, kind);
  try {
    const control = await ask(place, server.port, CONTROL_SECONDS);
    const attacker = spawn(process.execPath, [join(HERE, "attacker.ts"), kind, String(server.port), addresses], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const told = allOf(attacker);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const seen = await ask(place, server.port, SECONDS);
    const bytes = mostResidentBytes(server.pid);
    const reasons = bytes === undefined ? "the server has ended" : await refused(place, server.port);
    attacker.kill("SIGTERM");
    const tally: AttackTally = JSON.parse((await told).split("\n")[1] ?? "{}");
    const lines = [
      `${kind}: ${(TOGETHER[kind] ?? [kind]).map((name) => ATTACKS[name]?.says).join(", ")}; opened ${tally.opened}, closed ${tally.closed}`,
      ...linesOf("without", control),
      ...linesOf("beside", seen),
      `  most resident memory: ${bytes === undefined ? "the server has ended" : `${(bytes / 1e6).toFixed(0)} MB`}`,
      `  refused: ${reasons}`,
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
    return Object.values(seen).every(({ failures }) => failures.length === 0);
  } finally {
    await server.stop();
  }
}

const NAMES = { new: "reviews on new connections", kept: "reviews on kept connections", probe: "GET /readyz" } as const;

function linesOf(when: string, result: AskResult): readonly string[] {
  return Object.entries(NAMES).map(([kind, name]) => {
    const { asked, waitsMs, failures } = result[kind as keyof AskResult];
    const why = [...new Set(failures)].join(", ");
    const failed = failures.length === 0 ? "" : `, ${failures.length} failed (${why})`;
    return `  ${when}: ${waitsMs.length} of ${asked} ${name}, ${quantiles({ waitsMs })}${failed}`;
  });
}

function quantiles({ waitsMs }: Pick<Answered, "waitsMs">): string {
  const at = (share: number) => waitsMs[Math.min(waitsMs.length - 1, Math.floor(waitsMs.length * share))] ?? Number.NaN;
  return `median ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(0)} ms, worst ${at(1).toFixed(0)} ms`;
}

const words = process.argv.slice(2);
const program = words.find((word) => word.startsWith("--program="))?.slice("--program=".length);
const addresses = words.find((word) => word.startsWith("--addresses="))?.slice("--addresses=".length) ?? "0";
const kinds = words.filter((word) => word in ATTACKS || word in TOGETHER);
const folder = mkdtempSync(join(tmpdir(), "lastcall-intake-"));
try {
  const made = await makeCertificate("lastcall", Date.now());
  writeFileSync(join(folder, "tls.crt"), made.source.current().cert);
  writeFileSync(join(folder, "tls.key"), made.source.current().key);
  writeFileSync(join(folder, "ca.crt"), made.caCertificate);
  writeFileSync(join(folder, "small.json"), reviewBytes("small"));
  const clientFile = words.includes("--client-ca") ? await writeClient(folder) : "";
  const place = { folder, clientFile, program: program ?? join(HERE, "../../src/lastcall.ts") };
  process.stdout.write(`load average before: ${loadavg()[0]?.toFixed(1)}\n`);
  for (const kind of kinds.length === 0 ? [...Object.keys(ATTACKS), ...Object.keys(TOGETHER)] : kinds)
    if (!(await round(place, kind))) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
