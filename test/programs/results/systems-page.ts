/** Writes docs/systems.md from the results of real runs. Pure. */
import { table } from "./page.ts";
import type { Http2ServerResult, OtherResult, RequestTotals, ServerResult } from "./program-result.ts";

const INTRODUCTION = `# Servers without a driver

<!-- generated from real runs; after npm run test:programs: npm run table:programs -->

A Deployment of two Pods of each server was updated under load three times: with lastcall's defaults, with \`preStop: sleep 5\`, and
with neither. The Pods are local processes in network namespaces of their own, which are started and terminated by the rules of the
kubelet. The proxy of the Service applies endpoint changes after 2 s. Clients do not retry requests, and keep a connection for at most
5 s. Four more clients send a request that takes 1 to 5 s, and repeat it when they have the response. The programs come from Debian,
PyPI and npm, or are built with Go. nginx, HAProxy, Apache httpd, lighttpd and Caddy forward requests to an upstream, which is not
restarted; the other servers respond themselves.

- **Stop signal**: the signal in the project's official image, otherwise SIGTERM, the kubelet's default.
- **Failed**: the failed requests of the update, of all its requests. *Refused*: the connection was refused. *Cut*: the connection closed
  before the complete response. *Silent*: there was no response for 10 s. *Error*: the response had a status of 500 or above.
- **Drain**: with lastcall, the longest time from a Pod's deletion to its stop signal.
- **Over-wait**: the longest time from the earliest possible end of a drain to the stop signal. A drain can end when the drain delay
  (5 s) has passed, and the quiet period (2 s) has passed since the Pod's last connection closed. It does not wait for idle connections.
`;

const ENDLESS_INTRODUCTION = `
## Clients that never close

Without a driver nothing closes the keep-alive connection of a client that keeps sending requests. The drain waits for such a client
until the end of the patience (10 s), and the server's stop signal can then cut its request. lastcall recognises some of these servers
by their image or command, and does not wait then. Here a shell starts the servers, so lastcall waits for all of them. The table has the
failed requests of 16 such clients, most of which wait for a response (100 ms) at any time. With lastcall, it also has the longest time
from a Pod's deletion to its stop signal:
`;

const AFTERWORD = `
If a number is not 0, the server cut requests in flight at its stop signal, or closed a connection while a client sent a request. A
longer wait does not prevent this. Three measures do:

- a graceful stop signal, as in the official images of nginx, HAProxy and Apache httpd; in a Pod, set \`lifecycle.stopSignal\`. The server
  then completes the requests in flight, and loses only a request that arrives while it closes the connection;
- a limited lifetime of the clients' connections;
- a driver, which makes clients close their connections.

gunicorn's sync worker responds to every request with \`Connection: close\`, so its drain ends earlier. Each row is one run on a machine
with other load, so a 0 is a measurement, not a promise.

Traefik is measured [on a real cluster](guides/traefik.md). Not measured: servers on Java.
`;

const PRELOAD_INTRODUCTION = `
## The same clients with preload

This table is for the same 16 clients, with \`lastcall.dev/preload: http1\` and a deadline 10 s after the drain delay. The library adds
\`Connection: close\` to the next response on each connection ([preload](preload.md)).
`;

const PRELOAD_AFTERWORD = `
Statically linked programs do not load the library.
`;

const HTTP2_INTRODUCTION = `
## Idle HTTP/2 connections

One client of each server reads a response and leaves its connection idle. Its Pod is deleted 3 s later. The table has the duration of
the drain. The client is Node's, without TLS. The deadline is 5 s after the drain delay of 5 s; all other settings are defaults.
`;

const HTTP2_AFTERWORD = `
If the server was the last to send data, the connection counts as idle. The drain then ends with the drain delay, or a quiet period
later if both sides sent data within one tick of the kernel's clock. If the client was the last, the connection counts as busy, and the
drain waits until its deadline. This happens right after the connect, when the client acknowledges the server's settings; after a large
response, when the client opens its window (\`WINDOW_UPDATE\`); and with some servers after every response. The result depends on the
order of the segments, so another run can have another result. With \`lastcall.dev/active-url\` the app counts its requests instead
([protocols](protocols.md)).
`;

export function systemsPage(results: readonly OtherResult[]): string {
  const servers = results.filter(isServerResult);
  return [
    INTRODUCTION,
    managerSentence(servers),
    table([SERVER_HEAD, ...servers.map(serverRow)]),
    ENDLESS_INTRODUCTION,
    table([ENDLESS_HEAD, ...servers.map(endlessRow)]),
    AFTERWORD,
    PRELOAD_INTRODUCTION,
    table([PRELOAD_HEAD, ...servers.map(preloadRow)]),
    PRELOAD_AFTERWORD,
    ...http2Section(results.filter(isHttp2Result)),
  ].join("\n");
}

const HTTP2_HEAD = ["server", "version", "after its first response", "after a later one", "after one of 1 MiB"];

function http2Section(results: readonly Http2ServerResult[]): readonly string[] {
  if (results.length === 0) return [];
  const cellOf = ({ drainSeconds, outcome }: Http2ServerResult["later"]) => `${drainSeconds.toFixed(1)} s, ${outcome}`;
  const rows = results.map(({ system, version, first, later, large }) => [
    system,
    version,
    ...[first, later, large].map(cellOf),
  ]);
  return [HTTP2_INTRODUCTION, table([HTTP2_HEAD, ...rows]), HTTP2_AFTERWORD];
}

function managerSentence(servers: readonly ServerResult[]): string {
  const builds = [...new Set(servers.map(({ manager }) => manager))].map((build) =>
    build === "node" ? "Node" : build,
  );
  return `The manager was the ${builds.join(" or the ")} build.\n`;
}

const SERVER_HEAD = [
  "server",
  "version",
  "stop signal",
  "failed without lastcall",
  "failed with preStop: sleep 5",
  "failed with lastcall",
  "drain",
  "over-wait",
];

function serverRow(result: ServerResult): string[] {
  const signalCell = result.signalOf === "image" ? `${result.stopSignal} (image)` : result.stopSignal;
  const leadingCells = [result.system, result.version, signalCell];
  return [...leadingCells, ...[result.without, result.sleep, result.with].map(failureCell), ...drainCells(result)];
}

function drainCells(durations: Pick<ServerResult, "drainSeconds" | "overWaitSeconds">): string[] {
  return [`${durations.drainSeconds.toFixed(1)} s`, `${durations.overWaitSeconds.toFixed(2)} s`];
}

const ENDLESS_HEAD = [
  "server",
  "stop signal",
  "failed with preStop: sleep 5",
  "failed with lastcall",
  "a Pod's time",
  "the drain ended as",
];

function endlessRow({ system, stopSignal, endless, endlessSleep }: ServerResult): string[] {
  const drainDuration = `${endless.drainSeconds.toFixed(1)} s`;
  return [
    system,
    stopSignal,
    failureCell(endlessSleep),
    failureCell(endless),
    drainDuration,
    endless.outcomes.join(", "),
  ];
}

const PRELOAD_HEAD = ["server", "stop signal", "failed", "drain", "over-wait", "the drain ended as"];

function preloadRow({ system, stopSignal, preload }: ServerResult): string[] {
  const unreachedNote = preload.unreached === "" ? "" : ` (not reached: ${preload.unreached})`;
  const outcomes = `${preload.outcomes.join(", ")}${unreachedNote}`;
  return [system, stopSignal, failureCell(preload), ...drainCells(preload), outcomes];
}

function failureCell({ requests, failed, kinds }: RequestTotals): string {
  const countsByKind = [
    ["refused", kinds.refused],
    ["cut", kinds.reset + kinds["closed-unanswered"]],
    ["silent", kinds["timed-out"]],
    ["error", kinds["bad-status"]],
  ] as const;
  const detail = countsByKind.filter(([, count]) => count > 0).map(([kind, count]) => `${kind} ${count}`);
  return `**${failed}** of ${requests}${detail.length === 0 ? "" : `: ${detail.join(", ")}`}`;
}

function isServerResult(result: OtherResult): result is ServerResult {
  return result.kind === "server";
}

function isHttp2Result(result: OtherResult): result is Http2ServerResult {
  return result.kind === "http2";
}
