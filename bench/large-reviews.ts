/**
 * `npm run bench:large [-- --program=PATH]`: measures the latency of small admissions while one tenant sends the largest and
 * most complex reviews that the API server accepts, with the webhook and with a baseline server that only parses the bodies.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeCertificate } from "../src/webhook/certificates/self-made.ts";
import { reviewBytes } from "./admission-reviews.ts";
import { readCpuMicroseconds } from "./process-cost.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

const BENCH_FOLDER = import.meta.dirname;
const ROUNDS = 5;

type JsonObject = { readonly [key: string]: unknown };
type LargeReview = { readonly title: string; readonly count: number; readonly createPod: (count: number) => object };

function repeat<T>(count: number, createItem: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => createItem(index));
}

const APP: JsonObject = { name: "app", image: "app:1" };
const buildPod = (spec: JsonObject, annotations: JsonObject = {}): object => ({
  metadata: { name: "web-0", annotations },
  spec,
});
const probe = { httpGet: { port: 80 } };

const REVIEWS: readonly LargeReview[] = [
  {
    title: "20 000 containers, as small as possible",
    count: 20_000,
    createPod: (count) => buildPod({ containers: repeat(count, (index) => ({ name: `c${index}`, image: "x" })) }),
  },
  {
    title: "20 000 containers in 3 MiB",
    count: 20_000,
    createPod: (count) =>
      buildPod({ containers: repeat(count, (index) => ({ name: `c${index}`, image: "x".repeat(130) })) }),
  },
  {
    title: "1 000 containers in 3 MiB, with 3 probes each",
    count: 1_000,
    createPod: (count) => {
      const probes = { livenessProbe: probe, readinessProbe: probe, startupProbe: probe };
      return buildPod({
        containers: repeat(count, (index) => ({ name: `c${index}`, image: "x".repeat(2_900), ...probes })),
      });
    },
  },
  {
    title: "36 000 unknown annotations",
    count: 36_000,
    createPod: (count) =>
      buildPod({ containers: [APP] }, Object.fromEntries(repeat(count, (index) => [`lastcall.dev/key-${index}`, "x"]))),
  },
  {
    title: "400 000 names in a list",
    count: 400_000,
    createPod: (count) =>
      buildPod({ containers: [APP] }, { "lastcall.dev/containers": repeat(count, (index) => `n${index}`).join() }),
  },
  {
    title: "20 000 mounts and 20 000 volumes beside a driver's socket",
    count: 20_000,
    createPod: (count) => {
      const volumeMounts = repeat(count, (index) => ({ name: `v${index}`, mountPath: "/run/envoy" }));
      const volumes = repeat(count, (index) => ({ name: `v${index}`, emptyDir: {} }));
      const driver = { "lastcall.dev/driver": "envoy", "lastcall.dev/driver-url": "unix:/run/envoy/x.sock" };
      return buildPod({ volumes, containers: [{ ...APP, volumeMounts }] }, driver);
    },
  },
  {
    title: "a manager with 60 arguments of 50 KB",
    count: 57,
    createPod: (count) => {
      const args = [
        "serve",
        "--port=17890",
        `--hooks=${"x,".repeat(25_000)}`,
        ...repeat(count, () => "x,".repeat(25_000)),
      ];
      return buildPod({ initContainers: [{ name: "lastcall", image: "x", args }], containers: [APP] });
    },
  },
  {
    title: "a manager with 100 000 variables",
    count: 100_000,
    createPod: (count) => {
      const env = repeat(count, (index) => ({ name: `V${index}` }));
      const manager = { name: "lastcall", image: "x", args: ["serve", "--port=17890"], env };
      return buildPod({ initContainers: [manager], containers: [APP] });
    },
  },
];

function buildReview(pod: object): Buffer {
  const body = {
    uid: "large",
    operation: "CREATE",
    namespace: "tenant",
    resource: { group: "", resource: "pods" },
    object: pod,
  };
  return Buffer.from(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: body }));
}

/** `bytes` is 0 if the connection ended without a response. */
type PostResult = { readonly bytes: number; readonly ms: number };

function post(server: ServerProcess, agent: Agent, body: Buffer): Promise<PostResult> {
  const startMs = performance.now();
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json", "content-length": body.length };
    const outgoing = request(
      { host: "127.0.0.1", port: server.port, path: "/mutate", method: "POST", agent, headers },
      (response) => {
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
        });
        response.on("end", () => resolve({ bytes, ms: performance.now() - startMs }));
      },
    );
    outgoing.on("error", () => resolve({ bytes: 0, ms: performance.now() - startMs }));
    outgoing.end(body);
  });
}

type Measurement = {
  readonly smallMaxMs: number;
  readonly smallMedianMs: number;
  /** CPU time of the server for one large review, measured without other requests. */
  readonly cpuMs: number;
  readonly responseBytes: number;
  readonly unanswered: number;
};

async function measure(server: ServerProcess, ca: Buffer, body: Buffer): Promise<Measurement> {
  const agents = [1, 2].map(() => new Agent({ keepAlive: true, maxSockets: 1, ca }));
  const [smallAgent, largeAgent] = agents;
  if (smallAgent === undefined || largeAgent === undefined) throw new Error("no agents");
  // Warm-up: opens the connections and lets V8 compile the code before the measurement.
  for (const agent of agents) await post(server, agent, reviewBytes("small"));
  for (let round = 0; round < ROUNDS; round += 1) await post(server, largeAgent, body);
  const cpuBefore = readCpuMicroseconds(server.pid);
  for (let round = 0; round < ROUNDS; round += 1) await post(server, largeAgent, body);
  const cpuMs = (readCpuMicroseconds(server.pid) - cpuBefore) / ROUNDS / 1_000;
  const smallResults: PostResult[] = [];
  let isDone = false;
  const smallRequests = (async () => {
    while (!isDone) smallResults.push(await post(server, smallAgent, reviewBytes("small")));
  })();
  const largeResults: PostResult[] = [];
  for (let round = 0; round < ROUNDS; round += 1) largeResults.push(await post(server, largeAgent, body));
  isDone = true;
  await smallRequests;
  for (const agent of agents) agent.destroy();
  const sorted = smallResults.map(({ ms }) => ms).toSorted((left, right) => left - right);
  return {
    smallMaxMs: sorted.at(-1) ?? 0,
    smallMedianMs: sorted[Math.floor(sorted.length / 2)] ?? 0,
    cpuMs,
    responseBytes: Math.max(...largeResults.map(({ bytes }) => bytes)),
    unanswered: [...smallResults, ...largeResults].filter(({ bytes }) => bytes === 0).length,
  };
}

const defaultProgram = join(BENCH_FOLDER, "../src/lastcall.ts");
const { values } = parseArgs({ options: { program: { type: "string", default: defaultProgram } } });
const folder = mkdtempSync(join(tmpdir(), "lastcall-bench-"));
const servers: ServerProcess[] = [];
try {
  const certificate = await makeCertificate("lastcall", Date.now());
  const [cert, key] = [join(folder, "tls.crt"), join(folder, "tls.key")];
  writeFileSync(cert, certificate.source.current().cert);
  writeFileSync(key, certificate.source.current().key);
  writeFileSync(join(folder, "ca.crt"), certificate.caCertificate);
  const ca = readFileSync(join(folder, "ca.crt"));
  const webhookArgs = [
    values.program,
    "webhook",
    "--port=0",
    "--host=127.0.0.1",
    "--opt-in=all",
    `--cert=${cert}`,
    `--key=${key}`,
  ];
  servers.push(
    await startServer("baseline", [join(BENCH_FOLDER, "baseline-server.ts"), cert, key], join(folder, "baseline.log")),
  );
  servers.push(await startServer("webhook", webhookArgs, join(folder, "webhook.log")));
  process.stdout.write(
    "latency of small admissions during large reviews; the baseline server only parses the bodies\n",
  );
  for (const { title, createPod, count } of REVIEWS) {
    const body = buildReview(createPod(count));
    process.stdout.write(`${title} (${(body.length / 1e6).toFixed(2)} MB)\n`);
    for (const server of servers) {
      const { smallMaxMs, smallMedianMs, cpuMs, responseBytes, unanswered } = await measure(server, ca, body);
      const latency = `small reviews: median ${smallMedianMs.toFixed(1)} ms, max ${smallMaxMs.toFixed(0)} ms`;
      const cells = [`large review: ${cpuMs.toFixed(0)} ms of CPU time`, latency, `${unanswered} unanswered`];
      process.stdout.write(
        `  ${server.name.padEnd(8)} ${cells.join(", ")}, response to the large review: ${responseBytes} bytes\n`,
      );
    }
  }
} finally {
  for (const server of servers) await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
