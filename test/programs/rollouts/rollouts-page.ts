/** `docs/rollouts.md` from the results of `npm run bench:rollouts`. Pure. */
import { table } from "../results/page.ts";
import type { OtherResult } from "../results/program-result.ts";
import { BENCH_SCENES, protocolNames, sceneName } from "./rollout-scenes.ts";
import { OVER_WAIT_GOAL_MS, type RolloutsLine, total } from "./rollouts-verdict.ts";

/** Scenes that no line tells of. */
export function unmeasured(results: readonly OtherResult[]): readonly string[] {
  return BENCH_SCENES.map(sceneName).filter((name) => lineOf(name, results) === undefined);
}

/** The lines in the order of the scenes; other results have pages of their own. */
export function rolloutsPage(results: readonly OtherResult[]): string {
  const lines = BENCH_SCENES.flatMap((scene) => lineOf(sceneName(scene), results) ?? []);
  return [INTRODUCTION, circumstances(lines), promisedTable(lines), READING, OTHERS, otherTable(lines), AFTERWORD].join(
    "\n",
  );
}

export function promisedTable(lines: readonly RolloutsLine[]): string {
  return table([PROMISED_HEAD, ...lines.filter((line) => line.promised).map(promisedRow)]);
}

/** Of the scenes that are promised nothing. */
export function otherTable(lines: readonly RolloutsLine[]): string {
  return table([OTHER_HEAD, ...lines.filter((line) => !line.promised).map(otherRow)]);
}

const INTRODUCTION = `# 20 rollouts at 500 requests a second

<!-- generated from real runs; after npm run bench:rollouts: npm run table:programs -->

A Deployment of two Pods was rolled 20 times in a row, each update beginning 2 s after the new Pods of the last were Ready,
while clients asked it for more than 500 answers a second, at a pace that waits for no answer. No client asks twice: each request that
is not answered in full counts as failed.

**The clients** are two nodes that learn of endpoint changes 0.5 s and 1 s late, and choose a Pod for each new connection as
kube-proxy does. *Short-lived* ones keep a connection for 1 to 10 s; *endless* ones until they are told to go, by
\`Connection: close\` or GOAWAY. HTTP/1.1: 32 kept connections, each used several times a second; every tenth request has a
new connection; four clients always wait for an answer of 1 to 4 s; with short-lived clients each node also keeps a silent
connection to every Pod, for ever. HTTP/2: 16 connections with three requests at once (Node's client). gRPC: its wire format on
the same, unary calls with a message each way and the status in the trailers, without a generated stub.

**The Pods** are local processes under the kubelet's rules in network namespaces of their own, injected by the real webhook.
Without a driver and with driver \`http\` the Pod is an app that takes 20 ms for an answer and dies at its stop signal,
whatever it holds; told to drain, it answers HTTP/1.1 with \`Connection: close\`, and HTTP/2 with a GOAWAY that refuses
nothing, then the final one. With driver \`envoy\` the Pod is an Envoy 1.40 before an app that stays.
`;

function circumstances(lines: readonly RolloutsLine[]): string {
  const [first] = lines;
  if (first === undefined) return "";
  const seconds = (ms: number) => `${ms / 1_000} s`;
  const { delayMs, quietMs, timeoutMs } = first.settings;
  const loads = lines.map(({ machineLoad }) => machineLoad);
  const builds = [...new Set(lines.map(({ manager }) => (manager === "node" ? "Node" : manager)))].join(" or the ");
  return [
    `Settings: \`drain-delay\` ${seconds(delayMs)}, \`quiet-period\` ${seconds(quietMs)}, \`drain-timeout\` ${seconds(timeoutMs)}.`,
    `The manager is the ${builds} build.\nThe machine has ${first.processors} processors, and had`,
    `a load average of ${Math.min(...loads)} to ${Math.max(...loads)}; the processes of the run go before others where rights allow.\n`,
  ].join(" ");
}

const PROMISED_HEAD = [
  "protocol",
  "clients",
  "driver",
  "failed",
  "answers a second",
  "slowest second",
  "drain: median, longest",
  "over-wait: median, longest",
  `within ${OVER_WAIT_GOAL_MS} ms`,
];

function promisedRow(line: RolloutsLine): readonly string[] {
  return [
    protocolNames(line.protocols),
    line.clients,
    line.driver,
    failures(line),
    String(line.rate),
    String(line.slowestSecond),
    `${(line.drainMs.median / 1_000).toFixed(1)} s, ${(line.drainMs.most / 1_000).toFixed(1)} s`,
    `${milliseconds(line.overWaitMs.median)}, ${milliseconds(line.overWaitMs.most)}`,
    `${line.withinGoal} of ${line.drains}`,
  ];
}

const READING = `
**Over-wait**: from the moment when everything was done (the drain delay over, the Pod out of rotation, a quiet period behind the
last thing it did for any client) to the app's stop signal. The silent HTTP/1.1 connections were open at every release and
held none of them. Clients with a GOAWAY in hand take what they had not sent yet to another connection, as HTTP/2 libraries
do; no server saw it, and it counts once.

A client that asks less often than once in a quiet period on one kept connection is outside of this: it can meet the end of
its server like any idle connection.
`;

const OTHERS = `## Endless clients without a driver

Nothing sends these away: each drain waits for them to its deadline, here 3 s after the delay, and then they lose what they have
under way. This is measured, not promised.
`;

const OTHER_HEAD = ["protocol", "failed", "the drains ended as"];

function otherRow(line: RolloutsLine): readonly string[] {
  const outcomes = Object.entries(line.outcomes).map(([outcome, count]) => `${outcome} ${count}`);
  return [protocolNames(line.protocols), failures(line), outcomes.join(", ")];
}

const AFTERWORD = `
One run per row: a 0 here is a measurement, not a proof. \`npm run test:programs\` plays 20 shorter rollouts of all protocols
at once and fails when one request does.
`;

function failures(line: RolloutsLine): string {
  return `**${total(line.failed)}** of ${total(line.answered) + total(line.failed)}`;
}

/** What ended before its due moment did not wait in vain. */
function milliseconds(ms: number): string {
  return `${Math.max(0, ms)} ms`;
}

function lineOf(name: string, results: readonly OtherResult[]): RolloutsLine | undefined {
  return results.filter(isRollouts).find(({ system }) => system === name);
}

function isRollouts(result: OtherResult): result is RolloutsLine {
  return result.kind === "rollouts";
}
