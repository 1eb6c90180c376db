/** Writes docs/systems.md from the results of real runs. Pure. */
import { table } from "./page.ts";
import type { Http2ServerResult, OtherResult, RequestTotals, ServerResult } from "./program-result.ts";

const INTRODUCTION = `# Servers without a driver

<!-- generated from real runs; after npm run test:programs: npm run table:programs -->

Each server below was rolled as a Deployment of two Pods, without lastcall, with \`preStop: sleep 5\` instead, and with lastcall's
defaults, while clients sent it requests. The Pods are local processes under the kubelet's rules in their own network namespaces, the Service's
proxy applies endpoint changes 2 s late, and clients do not retry requests. Connections live at most
5 s; four clients always wait for a response that takes 1 to 5 s. Programs come from Debian, PyPI and npm, or are built with
Go; nginx, HAProxy, Apache httpd, lighttpd and Caddy forward requests to an upstream that is not rolled, the others respond
themselves.

**Stop signal**: from the project's official image, or the kubelet's default SIGTERM. **Failed**: of all requests of the
rollout; *refused* connections, *cut* ones that ended without a complete response, *silent* ones without a response for 10 s,
*error* responses of 500 and above. **Drain**: the longest time from the deletion of a Pod to its stop signal, with lastcall.
**Over-wait**: the longest part of that time after both the drain delay of 5 s and
the quiet period of 2 s after the end of the Pod's last connection; a drain does not wait for idle connections.
`;

const ENDLESS_INTRODUCTION = `
## Clients that never close

The limit of any drain without a driver: a client that keeps sending on one keep-alive connection is waited for at most until the end
of the patience (10 s). Then the server's stop signal can cut the client's request. lastcall recognises some of these servers by their
image or command, and then has no patience; here a shell starts them, so it does not. The table has the failed requests of 16 such
clients, most of them waiting for a response of 100 ms at any time, and the longest time of a Pod from its deletion to its stop
signal with lastcall:
`;

const AFTERWORD = `
If a number is not 0, the stop signal cuts requests in flight, or closes a connection while a request is being sent. A longer
wait does not prevent this. Three things do: a graceful stop signal, which finishes requests in flight and
loses only those that cross a closing connection, as the rows of nginx, HAProxy and Apache httpd show (official images set
it; in a Pod it is \`lifecycle.stopSignal\`); a limited lifetime of the clients' connections; or a driver, which makes such
clients close. gunicorn's sync worker sends \`Connection: close\` with every response, so its drain ends earlier. One run per row, on a machine with other load: a 0 here is a measurement, not a promise.

Traefik is measured [on a real cluster](guides/traefik.md). Not measured: servers on Java.
`;

const PRELOAD_INTRODUCTION = `
## The same clients with preload

The same 16 clients with \`lastcall.dev/preload: http1\` and a deadline 10 s after the delay: the library adds
\`Connection: close\` to the next response on each connection ([preload](preload.md)).
`;

const PRELOAD_AFTERWORD = `
A statically linked program does not load the library.
`;

const HTTP2_INTRODUCTION = `
## Idle HTTP/2 connections

One client of each server has read its response and keeps its idle connection; its Pod is deleted 3 s later. The table has the
duration of the drain, with HTTP/2 without TLS, Node's client, and the defaults except for a deadline 5 s after the delay of 5 s:
`;

const HTTP2_AFTERWORD = `
If the server sent last, the connection counts as idle, and the drain ends with the delay, or a quiet period later if
both sides sent within one tick of the kernel's clock. If the client sent last, the connection counts as busy, and the drain
waits until its deadline: right after the connect the client acknowledges the server's settings, after a large response it may
open its window (\`WINDOW_UPDATE\`), and with some servers it sends last after every response. This depends on
the order of segments, so another run can give another result; \`lastcall.dev/active-url\` counts requests instead
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
