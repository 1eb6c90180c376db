/**
 * `npm run bench:large [-- --program=PATH]`: how long small admissions wait while one tenant sends reviews as large and as
 * full as the API server lets through. Beside it the floor server, which only reads the same bodies.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeCertificate } from "../src/webhook/certificates/self-made.ts";
import { reviewBytes } from "./admission-reviews.ts";
import { cpuMicroseconds } from "./process-cost.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

const HERE = import.meta.dirname;
const ROUNDS = 5;

type Part = { readonly [key: string]: unknown };
type Hostile = { readonly says: string; readonly count: number; readonly pod: (count: number) => object };

function many<T>(count: number, part: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => part(at));
}

const APP: Part = { name: "app", image: "app:1" };
const podOf = (spec: Part, annotations: Part = {}): object => ({ metadata: { name: "web-0", annotations }, spec });
const probe = { httpGet: { port: 80 } };

const REVIEWS: readonly Hostile[] = [
  {
    says: "20 000 containers, as small as they can be",
    count: 20_000,
    pod: (count) => podOf({ containers: many(count, (at) => ({ name: `c${at}`, image: "x" })) }),
  },
  {
    says: "20 000 containers in 3 MiB",
    count: 20_000,
    pod: (count) => podOf({ containers: many(count, (at) => ({ name: `c${at}`, image: "x".repeat(130) })) }),
  },
  {
    says: "1 000 containers in 3 MiB, with three probes each",
    count: 1_000,
    pod: (count) => {
      const probes = { livenessProbe: probe, readinessProbe: probe, startupProbe: probe };
      return podOf({ containers: many(count, (at) => ({ name: `c${at}`, image: "x".repeat(2_900), ...probes })) });
    },
  },
  {
    says: "36 000 annotations that do not exist",
    count: 36_000,
    pod: (count) =>
      podOf({ containers: [APP] }, Object.fromEntries(many(count, (at) => [`lastcall.dev/key-${at}`, "x"]))),
  },
  {
    says: "400 000 names in a list",
    count: 400_000,
    pod: (count) => podOf({ containers: [APP] }, { "lastcall.dev/containers": many(count, (at) => `n${at}`).join() }),
  },
  {
    says: "40 000 mounts and volumes beside a driver's socket",
    count: 20_000,
    pod: (count) => {
      const volumeMounts = many(count, (at) => ({ name: `v${at}`, mountPath: "/run/envoy" }));
      const volumes = many(count, (at) => ({ name: `v${at}`, emptyDir: {} }));
      const driver = { "lastcall.dev/driver": "envoy", "lastcall.dev/driver-url": "unix:/run/envoy/x.sock" };
      return podOf({ volumes, containers: [{ ...APP, volumeMounts }] }, driver);
    },
  },
  {
    says: "a manager with 60 arguments of 50 KB",
    count: 57,
    pod: (count) => {
      const args = [
        "serve",
        "--port=17890",
        `--hooks=${"x,".repeat(25_000)}`,
        ...many(count, () => "x,".repeat(25_000)),
      ];
      return podOf({ initContainers: [{ name: "lastcall", image: "x", args }], containers: [APP] });
    },
  },
  {
    says: "a manager with 100 000 variables",
    count: 100_000,
    pod: (count) => {
      const env = many(count, (at) => ({ name: `V${at}` }));
      const manager = { name: "lastcall", image: "x", args: ["serve", "--port=17890"], env };
      return podOf({ initContainers: [manager], containers: [APP] });
    },
  },
];

function reviewOf(pod: object): Buffer {
  const body = {
    uid: "large",
    operation: "CREATE",
    namespace: "tenant",
    resource: { group: "", resource: "pods" },
    object: pod,
  };
  return Buffer.from(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: body }));
}

/** Nothing came back when `bytes` is 0: the connection ended instead. */
type Answer = { readonly bytes: number; readonly ms: number };

function post(server: ServerProcess, agent: Agent, body: Buffer): Promise<Answer> {
  const startMs = performance.now();
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json", "content-length": body.length };
    const sent = request(
      { host: "127.0.0.1", port: server.port, path: "/mutate", method: "POST", agent, headers },
      (answer) => {
        let bytes = 0;
        answer.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
        });
        answer.on("end", () => resolve({ bytes, ms: performance.now() - startMs }));
      },
    );
    sent.on("error", () => resolve({ bytes: 0, ms: performance.now() - startMs }));
    sent.end(body);
  });
}

type Figures = {
  /** Of the small ones. */
  readonly longestMs: number;
  readonly medianMs: number;
  /** Of the server, for one large one alone: for so long nothing else is answered, however busy the machine is. */
  readonly cpuMs: number;
  readonly answerBytes: number;
  /** Requests whose connection ended. */
  readonly unanswered: number;
};

async function measure(server: ServerProcess, ca: Buffer, body: Buffer): Promise<Figures> {
  const agents = [1, 2].map(() => new Agent({ keepAlive: true, maxSockets: 1, ca }));
  const [small, large] = agents;
  if (small === undefined || large === undefined) throw new Error("no agents");
  // Connections and code are there before anything is measured.
  for (const agent of agents) await post(server, agent, reviewBytes("small"));
  for (let round = 0; round < ROUNDS; round += 1) await post(server, large, body);
  const before = cpuMicroseconds(server.pid);
  for (let round = 0; round < ROUNDS; round += 1) await post(server, large, body);
  const cpuMs = (cpuMicroseconds(server.pid) - before) / ROUNDS / 1_000;
  const smalls: Answer[] = [];
  let isDone = false;
  const asker = (async () => {
    while (!isDone) smalls.push(await post(server, small, reviewBytes("small")));
  })();
  const larges: Answer[] = [];
  for (let round = 0; round < ROUNDS; round += 1) larges.push(await post(server, large, body));
  isDone = true;
  await asker;
  for (const agent of agents) agent.destroy();
  const sorted = smalls.map(({ ms }) => ms).toSorted((left, right) => left - right);
  return {
    longestMs: sorted.at(-1) ?? 0,
    medianMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
    cpuMs,
    answerBytes: Math.max(...larges.map(({ bytes }) => bytes)),
    unanswered: [...smalls, ...larges].filter(({ bytes }) => bytes === 0).length,
  };
}

const usual = join(HERE, "../src/lastcall.ts");
const { values } = parseArgs({ options: { program: { type: "string", default: usual } } });
const folder = mkdtempSync(join(tmpdir(), "lastcall-bench-"));
const running: ServerProcess[] = [];
try {
  const made = await makeCertificate("lastcall", Date.now());
  const [cert, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  writeFileSync(cert, made.source.current().cert);
  writeFileSync(key, made.source.current().key);
  writeFileSync(join(folder, "ca.crt"), made.caCertificate);
  const ca = readFileSync(join(folder, "ca.crt"));
  const webhook = [
    values.program,
    "webhook",
    "--port=0",
    "--host=127.0.0.1",
    "--opt-in=all",
    `--cert=${cert}`,
    `--key=${key}`,
  ];
  running.push(await startServer("floor", [join(HERE, "floor-server.ts"), cert, key], join(folder, "floor.log")));
  running.push(await startServer("webhook", webhook, join(folder, "webhook.log")));
  process.stdout.write("small admissions beside large reviews, in ms; the floor server only reads and parses\n");
  for (const { says, pod, count } of REVIEWS) {
    const body = reviewOf(pod(count));
    process.stdout.write(`${says} (${(body.length / 1e6).toFixed(2)} MB)\n`);
    for (const server of running) {
      const { longestMs, medianMs, cpuMs, answerBytes, unanswered } = await measure(server, ca, body);
      const waited = `small ones waited ${medianMs.toFixed(1)}, at the longest ${longestMs.toFixed(0)}`;
      const figures = [`the large one took ${cpuMs.toFixed(0)} of CPU time`, waited, `${unanswered} unanswered`];
      process.stdout.write(`  ${server.name.padEnd(8)} ${figures.join(", ")}, its answer ${answerBytes} bytes\n`);
    }
  }
} finally {
  for (const server of running) await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
