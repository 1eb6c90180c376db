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

A Deployment of two Pods was rolled 20 times in a row. Each update started 2 s after the Pods of the previous one were Ready.
Clients sent more than 500 requests a second in an open loop, which does not wait for responses. Requests are not retried: each one
without a complete response counts as failed.

**The clients** are two nodes that apply endpoint changes 0.5 s and 1 s late, and choose a Pod for each new connection as
kube-proxy does. *Short-lived* ones keep a connection for 1 to 10 s; *endless* ones keep it until \`Connection: close\` or
GOAWAY. HTTP/1.1: 32 keep-alive connections, each used several times a second; every tenth request has a new connection; four
clients always wait for a response of 1 to 4 s; with short-lived clients each node also keeps one idle connection to every Pod.
HTTP/2: 16 connections with three concurrent streams (Node's client). gRPC: its wire format on the same connections, unary
calls with a message each way and the status in the trailers, without a generated stub.

**The Pods** are local processes under the kubelet's rules in their own network namespaces, injected by the real webhook.
Without a driver and with driver \`http\` the Pod is an app that takes 20 ms per response and exits at once on its stop
signal, even with open requests. When its drain URL is called, it responds to HTTP/1.1 with \`Connection: close\`, and sends HTTP/2
clients a GOAWAY that refuses no stream, then the final one. With driver \`envoy\` the Pod is an Envoy 1.40 with an upstream
that is not rolled.
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
**Over-wait**: from the moment when the drain could have ended (the drain delay is over, the Pod is withdrawn, and a quiet
period has passed since the last request, response or close of a client) to the app's stop signal. The idle HTTP/1.1 connections
were open at every release and delayed none of them. After GOAWAY clients send the requests that they had not sent yet on
another connection, as HTTP/2 libraries do; no server received them before, and each counts once.

The promise does not cover a client that sends less than one request in a quiet period on a keep-alive connection: its server can
close that connection like any idle one.
`;

const LOSSY_INTRODUCTION = `## Endless clients without a driver

Without a driver these clients do not close: each drain waits for them until its deadline, here 3 s after the delay, and then
their requests in flight fail. This is measured, not promised.
`;

const LOSSY_HEAD = ["protocol", "failed", "the drains ended as"];

function lossyRow(line: RolloutsLine): readonly string[] {
  const outcomes = Object.entries(line.outcomes).map(([outcome, count]) => `${outcome} ${count}`);
  return [protocolNames(line.protocols), failureCell(line), outcomes.join(", ")];
}

const AFTERWORD = `
One run per row: a 0 here is a measurement, not a proof. \`npm run test:programs\` runs 20 shorter rollouts of all protocols
at once and fails if a single request fails.
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
