/** Writes docs/rollouts.md from the results of `npm run bench:rollouts`. Pure. */
import { table } from "../results/page.ts";
import type { OtherResult } from "../results/program-result.ts";
import { BENCH_SCENARIOS, protocolNames, scenarioName } from "./rollout-scenarios.ts";
import { OVER_WAIT_GOAL_MS, type RolloutsLine, total } from "./rollouts-checks.ts";

export function missingRolloutScenarios(results: readonly OtherResult[]): readonly string[] {
  return BENCH_SCENARIOS.map(scenarioName).filter((name) => findLine(name, results) === undefined);
}

export function rolloutsPage(results: readonly OtherResult[]): string {
  const lines = BENCH_SCENARIOS.flatMap((scenario) => findLine(scenarioName(scenario), results) ?? []);
  return [
    INTRODUCTION,
    describeConditions(lines),
    losslessTable(lines),
    OVER_WAIT_NOTE,
    LOSSY_INTRODUCTION,
    lossyTable(lines),
    AFTERWORD,
  ].join("\n");
}

export function losslessTable(lines: readonly RolloutsLine[]): string {
  return table([LOSSLESS_HEAD, ...lines.filter((line) => line.promised).map(losslessRow)]);
}

export function lossyTable(lines: readonly RolloutsLine[]): string {
  return table([LOSSY_HEAD, ...lines.filter((line) => !line.promised).map(lossyRow)]);
}

const INTRODUCTION = `# 20 rollouts at 500 requests a second

<!-- generated from real runs; after npm run bench:rollouts: npm run table:programs -->

A Deployment of two Pods was updated 20 times. Each update started 2 s after the Pods of the previous update were ready. Meanwhile
clients sent more than 500 requests a second, at a rate that does not depend on the responses. Clients do not retry requests: a
request without a complete response counts as failed.

**Clients** run on two simulated nodes. The nodes apply endpoint changes 0.5 s and 1 s after they are published, and choose a Pod for
each new connection as kube-proxy does. A *short-lived* client closes its connection after 1 to 10 s. An *endless* client closes its
connection only after \`Connection: close\` or GOAWAY. Each protocol has its own clients:

- HTTP/1.1: 32 keep-alive connections with several requests a second each. Every tenth request opens a new connection. Four more
  clients send a request that takes 1 to 4 s, and repeat it when they have the response. If the clients are short-lived, each node
  also has one idle connection to every Pod.
- HTTP/2: 16 connections of Node's client with three concurrent streams each.
- gRPC: unary calls on such connections, with one message in each direction and the status in the trailers. The clients write gRPC's
  wire format without a generated stub.

**Pods** are local processes in network namespaces of their own, which are started and terminated by the rules of the kubelet and injected
by the real webhook. Without a driver and with the driver \`http\` the Pod runs an app that needs 20 ms for a response. At its stop
signal the app exits immediately, even with open requests. After a request to its drain URL it responds to HTTP/1.1 requests with
\`Connection: close\`, and sends HTTP/2 clients first a GOAWAY that still accepts every stream, then the final GOAWAY. With the driver
\`envoy\` the Pod runs an Envoy 1.40; its upstream is not restarted.
`;

function describeConditions(lines: readonly RolloutsLine[]): string {
  const [first] = lines;
  if (first === undefined) return "";
  const formatSeconds = (ms: number) => `${ms / 1_000} s`;
  const { delayMs, quietMs, timeoutMs } = first.settings;
  const machineLoads = lines.map(({ machineLoad }) => machineLoad);
  const builds = [...new Set(lines.map(({ manager }) => (manager === "node" ? "Node" : manager)))].join(" or the ");
  return [
    `Settings: \`drain-delay\` ${formatSeconds(delayMs)}, \`quiet-period\` ${formatSeconds(quietMs)}, \`drain-timeout\` ${formatSeconds(timeoutMs)}.`,
    `The manager is the ${builds} build.\nThe machine has ${first.processors} processors, and had`,
    `a load average of ${Math.min(...machineLoads)} to ${Math.max(...machineLoads)}; the processes of the run have a raised priority where permissions allow.\n`,
  ].join(" ");
}

const LOSSLESS_HEAD = [
  "protocol",
  "clients",
  "driver",
  "failed",
  "responses a second",
  "slowest second",
  "drain: median, longest",
  "over-wait: median, longest",
  `within ${OVER_WAIT_GOAL_MS} ms`,
];

function losslessRow(line: RolloutsLine): readonly string[] {
  return [
    protocolNames(line.protocols),
    line.clients,
    line.driver,
    failureCell(line),
    String(line.rate),
    String(line.slowestSecond),
    `${(line.drainMs.median / 1_000).toFixed(1)} s, ${(line.drainMs.most / 1_000).toFixed(1)} s`,
    `${formatOverWait(line.overWaitMs.median)}, ${formatOverWait(line.overWaitMs.most)}`,
    `${line.withinGoal} of ${line.drains}`,
  ];
}

const OVER_WAIT_NOTE = `
**Over-wait**: the time from the earliest possible end of the drain to the app's stop signal. A drain can end when the drain delay has
passed, the Pod is withdrawn, and clients have not sent a request, received a response or closed a connection for a quiet period. The
idle HTTP/1.1 connections were still open at the end of every drain, and did not delay it. A request that a client had not sent when it
received GOAWAY is sent on another connection, as HTTP/2 libraries do, and counts once.

lastcall does not promise 0 failed requests for a keep-alive connection with less than one request per quiet period: its server can
close the connection while the client sends the next request, as it can close any idle connection.
`;

const LOSSY_INTRODUCTION = `## Endless clients without a driver

Without a driver nothing makes endless clients close their connections. Each drain waits for them until its deadline, here 3 s after
the drain delay, and their requests in flight then fail.
`;

const LOSSY_HEAD = ["protocol", "failed", "the drains ended as"];

function lossyRow(line: RolloutsLine): readonly string[] {
  const outcomes = Object.entries(line.outcomes).map(([outcome, count]) => `${outcome} ${count}`);
  return [protocolNames(line.protocols), failureCell(line), outcomes.join(", ")];
}

const AFTERWORD = `
Each row is one run, so a 0 is a measurement, not a proof. \`npm run test:programs\` runs 20 shorter rollouts with all protocols at the
same time, and fails if a single request fails.
`;

export function failureCell(line: RolloutsLine): string {
  return `**${total(line.failed)}** of ${total(line.answered) + total(line.failed)}`;
}

/** A drain that ended too early has an over-wait of 0. */
function formatOverWait(ms: number): string {
  return `${Math.max(0, ms)} ms`;
}

export function findLine(name: string, results: readonly OtherResult[]): RolloutsLine | undefined {
  return results.filter(isRolloutsLine).find(({ system }) => system === name);
}

function isRolloutsLine(result: OtherResult): result is RolloutsLine {
  return result.kind === "rollouts";
}
