/** `docs/systems.md` from the results of real runs. Pure. */
import { table } from "./page.ts";
import type { Counted, Http2ServerResult, OtherResult, ServerResult } from "./program-result.ts";

const INTRODUCTION = `# Servers without a driver

<!-- generated from real runs; after npm run test:programs: npm run table:programs -->

Each server below was rolled as a Deployment of two Pods, without lastcall and with its defaults, while clients asked it
for answers. The Pods are local processes under the kubelet's rules in network namespaces of their own, the Service's
proxy learns of endpoint changes 2 s late, and none of the clients tries a request twice. All connections live at most
5 s; four clients always wait for an answer that takes 1 to 5 s. Programs come from Debian, PyPI and npm, or are built with
Go; nginx, HAProxy, Apache httpd, lighttpd and Caddy pass requests on to a backend that is not rolled, the others answer
themselves.

**Stop signal**: the one that the project's official image names, or SIGTERM, which the kubelet sends where the image
names none. **Failed**: of all requests of the rollout; *refused* new connections, *cut* ones that ended without a whole
answer, *silent* ones without an answer for 10 s, *error* answers of 500 and above. **Drain**: from the deletion of a Pod
to its stop signal, the longest, with lastcall. **Over-wait**: how much of that came after both the drain delay of 5 s and
the quiet period of 2 s behind the Pod's last connection, the longest; a connection that is idle is not waited for.
`;

const ENDLESS = `
## Clients that never leave

The limit of any drain without a driver: a client that keeps sending on one kept connection is waited for to the
deadline (here 3 s after the delay) and is then at the mercy of the server's stop signal. 16 such clients, most of
them waiting for an answer of 100 ms at any time, and how many requests the rollout lost with lastcall:
`;

const AFTERWORD = `
Where a number is not 0, the stop signal cuts answers under way, or closes a connection across a request that
is just being sent, and no wait before it can help. What does: a graceful stop signal, which finishes what is under way and
loses only what crosses a closing connection, as the rows of nginx, HAProxy and Apache httpd show (official images name
it; in a Pod it is \`lifecycle.stopSignal\`), a bounded life of the clients' connections, or something that sends such
clients away, which is what drivers are for. gunicorn's sync worker sends every client away with its answer, so its drain
ends by itself. One run per row, on a machine that did other work as well: a 0 here is a measurement, not a promise.

Not here: Traefik, which neither Debian nor PyPI nor npm has, and whose module \`go install\` refuses for its \`replace\`
directives (3.7.13); and servers on Java, which were not tried.
`;

const PRELOAD = `
## The same clients, told to leave from inside

The same 16 clients with \`lastcall.dev/preload: http1\` and a deadline 10 s after the delay: the library tells each of
them with the next answer on its connection ([preload](preload.md)).
`;

const PRELOAD_AFTERWORD = `
A static program loads no library: its rows are those of the table above, with more time.
`;

const HTTP2 = `
## HTTP/2 connections that stay

One client of each server has read its answer, falls silent and stays connected; its Pod is deleted 3 s later. HTTP/2 without
TLS, Node's client, the defaults but a deadline 5 s after the delay of 5 s, and how long the drain took:
`;

const HTTP2_AFTERWORD = `
Where the server spoke last the connection counts as idle, and only the delay is waited for, or the quiet period where both
spoke within one tick of the kernel's clock. Where the client spoke last it looks as if it had asked something, and is waited for to
the deadline: right after it has connected it acknowledges the server's settings, after a large answer it may give room for
more (\`WINDOW_UPDATE\`), and with some servers it has the last word after every answer. Which of it happens hangs on
the order of segments, so another run may show another column; \`lastcall.dev/active-url\` knows better
([protocols](protocols.md)).
`;

/** Rows in the order of the results; those of other kinds have pages of their own. */
export function systemsPage(results: readonly OtherResult[]): string {
  const servers = results.filter(isServer);
  return [
    INTRODUCTION,
    managerSentence(servers),
    table([SERVER_HEAD, ...servers.map(serverRow)]),
    ENDLESS,
    table([ENDLESS_HEAD, ...servers.map(endlessRow)]),
    AFTERWORD,
    PRELOAD,
    table([PRELOAD_HEAD, ...servers.map(preloadRow)]),
    PRELOAD_AFTERWORD,
    ...http2Section(results.filter(isHttp2)),
  ].join("\n");
}

const HTTP2_HEAD = ["server", "version", "after its first answer", "after a later one", "after one of 1 MiB"];

function http2Section(results: readonly Http2ServerResult[]): readonly string[] {
  if (results.length === 0) return [];
  const words = ({ drainSeconds, outcome }: Http2ServerResult["later"]) => `${drainSeconds.toFixed(1)} s, ${outcome}`;
  const rows = results.map(({ system, version, first, later, large }) => [
    system,
    version,
    ...[first, later, large].map(words),
  ]);
  return [HTTP2, table([HTTP2_HEAD, ...rows]), HTTP2_AFTERWORD];
}

function managerSentence(servers: readonly ServerResult[]): string {
  const builds = [...new Set(servers.map(({ manager }) => manager))].map((one) => (one === "node" ? "Node" : one));
  return `The manager that drained was the ${builds.join(" or the ")} build.\n`;
}

const SERVER_HEAD = [
  "server",
  "version",
  "stop signal",
  "failed without lastcall",
  "failed with it",
  "drain",
  "over-wait",
];

function serverRow(result: ServerResult): string[] {
  const signal = result.signalOf === "image" ? `${result.stopSignal} (image)` : result.stopSignal;
  const name = [result.system, result.version, signal];
  return [...name, failures(result.without), failures(result.with), ...drainCells(result)];
}

function drainCells(waited: Pick<ServerResult, "drainSeconds" | "overWaitSeconds">): string[] {
  return [`${waited.drainSeconds.toFixed(1)} s`, `${waited.overWaitSeconds.toFixed(2)} s`];
}

const ENDLESS_HEAD = ["server", "stop signal", "failed", "the drain ended as"];

function endlessRow({ system, stopSignal, endless }: ServerResult): string[] {
  return [system, stopSignal, failures(endless), endless.outcomes.join(", ")];
}

const PRELOAD_HEAD = ["server", "stop signal", "failed", "drain", "over-wait", "the drain ended as"];

function preloadRow({ system, stopSignal, preload }: ServerResult): string[] {
  const unreached = preload.unreached === "" ? "" : ` (not reached: ${preload.unreached})`;
  const outcomes = `${preload.outcomes.join(", ")}${unreached}`;
  return [system, stopSignal, failures(preload), ...drainCells(preload), outcomes];
}

/** `151 of 873: refused 149, cut 2`. */
function failures({ requests, failed, kinds }: Counted): string {
  const named = [
    ["refused", kinds.refused],
    ["cut", kinds.reset + kinds["closed-unanswered"]],
    ["silent", kinds["timed-out"]],
    ["error", kinds["bad-status"]],
  ] as const;
  const detail = named.filter(([, count]) => count > 0).map(([kind, count]) => `${kind} ${count}`);
  return `**${failed}** of ${requests}${detail.length === 0 ? "" : `: ${detail.join(", ")}`}`;
}

function isServer(result: OtherResult): result is ServerResult {
  return result.kind === "server";
}

function isHttp2(result: OtherResult): result is Http2ServerResult {
  return result.kind === "http2";
}
