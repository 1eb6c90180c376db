/**
 * `npm run bench:intake [-- ATTACK…] [-- --program=FILE] [-- --addresses=16] [-- --client-ca]`: measures the webhook's
 * latency for an API server's reviews and a kubelet's probes, before and during each attack by unauthenticated clients. Each
 * attack has its own webhook process. Exits with 1 if a call during an attack fails or takes longer than 5 s.
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
import { makeClientCertificate } from "../client-pair.ts";
import { readPeakResidentBytes } from "../process-cost.ts";
import { type ServerProcess, startServer } from "../server-process.ts";
import { ATTACKS, type AttackCounts, COMBINATIONS } from "./attacks.ts";
import type { CallResults, ClientResult, ClientSettings } from "./webhook-client.ts";

const INTAKE_FOLDER = import.meta.dirname;
const SETTLE_MS = 5_000;
const ATTACK_SECONDS = 20;
const SECONDS_WITHOUT_ATTACK = 5;
const HOUR_MS = 3_600_000;

/** `clientFile`: path of a JSON file with the client certificate and its key; empty if the webhook does not require one. */
type Setup = { readonly folder: string; readonly program: string; readonly clientFile: string };

async function startWebhook({ folder, program, clientFile }: Setup, name: string): Promise<ServerProcess> {
  const certificateFlags = [`--cert=${join(folder, "tls.crt")}`, `--key=${join(folder, "tls.key")}`];
  const args = [
    ...WEBHOOK_FLAGS,
    program,
    "webhook",
    "--port=0",
    "--host=127.0.0.1",
    "--opt-in=all",
    ...certificateFlags,
  ];
  if (clientFile !== "") args.push(`--client-ca=${join(folder, "client-ca.crt")}`);
  return startServer(name, args, join(folder, `${name}.log`));
}

async function callWebhook({ folder, clientFile }: Setup, port: number, seconds: number): Promise<ClientResult> {
  const files = { caFile: join(folder, "ca.crt"), bodyFile: join(folder, "small.json"), clientFile };
  const settings: ClientSettings = { port, ...files, seconds };
  const child = spawn(process.execPath, [join(INTAKE_FOLDER, "webhook-client.ts"), JSON.stringify(settings)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(await readOutput(child));
}

async function writeClientCertificate(folder: string): Promise<string> {
  const nowMs = Date.now();
  const ca = await makeCaPair("clients", { fromMs: nowMs - HOUR_MS, untilMs: nowMs + HOUR_MS });
  writeFileSync(join(folder, "client-ca.crt"), ca.cert);
  const file = join(folder, "client.json");
  writeFileSync(file, JSON.stringify(await makeClientCertificate(ca)));
  return file;
}

async function readOutput(child: ChildProcess): Promise<string> {
  let text = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  await once(child, "close");
  return text;
}

async function readRefusals({ folder }: Setup, port: number): Promise<string> {
  const { get } = await import("node:https");
  const ca = readFileSync(join(folder, "ca.crt"));
  const options = { host: "127.0.0.1", port, ca, servername: "localhost", path: "/metrics", agent: false } as const;
  const text = await new Promise<string>((resolve) => {
    const outgoing = get(options, (reply) => {
      let body = "";
      reply.setEncoding("utf8");
      reply.on("data", (chunk: string) => {
        body += chunk;
      });
      reply.once("end", () => resolve(body));
    });
    outgoing.once("error", () => resolve(""));
  });
  const counterMatches = [...text.matchAll(/^lastcall_requests_refused_total\{reason="([a-z_]+)"\} ([1-9][0-9]*)$/gm)];
  return counterMatches.map(([, reason, times]) => `${reason} ${times}`).join(", ") || "none";
}

async function measureAttack(setup: Setup, attackName: string): Promise<boolean> {
  const server = await startWebhook(setup, attackName);
  try {
    const beforeAttack = await callWebhook(setup, server.port, SECONDS_WITHOUT_ATTACK);
    const attacker = spawn(
      process.execPath,
      [join(INTAKE_FOLDER, "attacker.ts"), attackName, String(server.port), addresses],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const attackerOutput = readOutput(attacker);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const duringAttack = await callWebhook(setup, server.port, ATTACK_SECONDS);
    const peakBytes = readPeakResidentBytes(server.pid);
    const refusals = peakBytes === undefined ? "the server has ended" : await readRefusals(setup, server.port);
    attacker.kill("SIGTERM");
    const counts: AttackCounts = JSON.parse((await attackerOutput).split("\n")[1] ?? "{}");
    const lines = [
      `${attackName}: ${(COMBINATIONS[attackName] ?? [attackName]).map((name) => ATTACKS[name]?.title).join(", ")}; opened ${counts.opened}, closed ${counts.closed}`,
      ...formatCalls("before", beforeAttack),
      ...formatCalls("during", duringAttack),
      `  peak resident memory: ${peakBytes === undefined ? "the server has ended" : `${(peakBytes / 1e6).toFixed(0)} MB`}`,
      `  refused: ${refusals}`,
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
    return Object.values(duringAttack).every(({ failures }) => failures.length === 0);
  } finally {
    await server.stop();
  }
}

const CALL_KIND_NAMES = {
  new: "reviews on new connections",
  keptAlive: "reviews on keep-alive connections",
  probe: "GET /readyz",
} as const;

function formatCalls(when: string, result: ClientResult): readonly string[] {
  return Object.entries(CALL_KIND_NAMES).map(([kind, name]) => {
    const { sent, latenciesMs, failures } = result[kind as keyof ClientResult];
    const reasons = [...new Set(failures)].join(", ");
    const failureText = failures.length === 0 ? "" : `, ${failures.length} failed (${reasons})`;
    return `  ${when}: ${latenciesMs.length} of ${sent} ${name}, ${formatLatencies({ latenciesMs })}${failureText}`;
  });
}

function formatLatencies({ latenciesMs }: Pick<CallResults, "latenciesMs">): string {
  const latencyAt = (share: number) =>
    latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * share))] ?? Number.NaN;
  return `median ${latencyAt(0.5).toFixed(1)} ms, p99 ${latencyAt(0.99).toFixed(0)} ms, max ${latencyAt(1).toFixed(0)} ms`;
}

const args = process.argv.slice(2);
const program = args.find((arg) => arg.startsWith("--program="))?.slice("--program=".length);
const addresses = args.find((arg) => arg.startsWith("--addresses="))?.slice("--addresses=".length) ?? "0";
const attackNames = args.filter((arg) => arg in ATTACKS || arg in COMBINATIONS);
const folder = mkdtempSync(join(tmpdir(), "lastcall-intake-"));
try {
  const certificate = await makeCertificate("lastcall", Date.now());
  writeFileSync(join(folder, "tls.crt"), certificate.source.current().cert);
  writeFileSync(join(folder, "tls.key"), certificate.source.current().key);
  writeFileSync(join(folder, "ca.crt"), certificate.caCertificate);
  writeFileSync(join(folder, "small.json"), reviewBytes("small"));
  const clientFile = args.includes("--client-ca") ? await writeClientCertificate(folder) : "";
  const setup = { folder, clientFile, program: program ?? join(INTAKE_FOLDER, "../../src/lastcall.ts") };
  process.stdout.write(`load average before: ${loadavg()[0]?.toFixed(1)}\n`);
  for (const attackName of attackNames.length === 0
    ? [...Object.keys(ATTACKS), ...Object.keys(COMBINATIONS)]
    : attackNames)
    if (!(await measureAttack(setup, attackName))) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
