/** Writes the tables of the guides from the measurements of gateways. Pure. */
import { table } from "../../test/programs/results/page.ts";
import { ENDINGS, type Ending } from "../client/gateway-endings.ts";
import type { GatewayResult } from "../client/gateway-results.ts";
import type { LoadKind } from "../programs/gateway-load-kinds.ts";

const ENDING_NAMES: Readonly<Record<Ending, string>> = {
  own: "its own shutdown manager",
  lastcall: "lastcall",
  both: "both",
  neither: "no hook",
};

const LOAD_NAMES: Readonly<Record<LoadKind, string>> = {
  "http1-short": "HTTP/1.1, connections of 1 to 10 s",
  "http1-endless": "HTTP/1.1, connections that never close",
  http2: "HTTP/2, sessions that never close",
  grpc: "gRPC, sessions that never close",
  websocket: "WebSockets of 1 to 10 s",
  tcp: "TCP sessions of 1 to 10 s",
  idle: "one idle connection",
};

/** @throws if the gateway has no results */
export function gatewayTables(gateway: string, results: readonly GatewayResult[]): string {
  const own = results.filter((result) => result.gateway === gateway);
  const [first] = own;
  if (first === undefined) throw new Error(`no results of ${gateway}; run npm run e2e -- --others`);
  const loads = (Object.keys(LOAD_NAMES) as readonly LoadKind[]).filter((load) =>
    own.some((result) => result.load === load),
  );
  const head = ["load", ...ENDINGS.map((ending) => ENDING_NAMES[ending])];
  const rows = loads.map((load) => [
    LOAD_NAMES[load],
    ...ENDINGS.map((ending) => cellOf(own.find((result) => result.load === load && result.ending === ending))),
  ]);
  const dates = [...new Set(own.map(({ date }) => date))].sort().join(", ");
  return [
    `${first.versions}, ${dates}. Each cell: failed requests, the longest time from a Pod's deletion to Envoy's exit, and the longest over-wait.`,
    table([head, ...rows]),
    memoryOf(own),
  ].join("\n\n");
}

function cellOf(result: GatewayResult | undefined): string {
  if (result === undefined) return "–";
  const { failed, requests, longestSeconds, longestOverWaitSeconds } = result;
  return `**${failed}** of ${requests}; ${longestSeconds.toFixed(1)} s; ${longestOverWaitSeconds.toFixed(1)} s`;
}

function memoryOf(results: readonly GatewayResult[]): string {
  const most = (sizes: readonly (number | undefined)[]): number => Math.max(...sizes.map((size) => size ?? 0));
  const own = most(results.map(({ ownMiB }) => ownMiB));
  const lastcall = most(results.map(({ lastcallMiB }) => lastcallMiB));
  return `Resident memory of one manager before the rollout, at most: its own ${own.toFixed(1)} MiB, lastcall's ${lastcall.toFixed(2)} MiB.`;
}
