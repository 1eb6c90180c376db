/** Writes the tables of the guides from the measurements of gateways. Pure. */
import { table } from "../../test/programs/results/page.ts";
import { ENDINGS, type Ending } from "../client/gateway-endings.ts";
import type { GatewayResult } from "../client/gateway-results.ts";
import type { LoadKind } from "../programs/gateway-load-kinds.ts";

export type GatewayNames = {
  /** Name in the results. */
  readonly gateway: string;
  /** Name of the gateway's own shutdown mechanism. */
  readonly own: string;
  /** The program in front of the backends. */
  readonly proxy: string;
};

const ENDING_NAMES: Readonly<Record<Exclude<Ending, "own">, string>> = {
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
  udp: "UDP sessions of 1 to 10 s",
  idle: "one idle connection",
};

/** @throws if the results do not contain the gateway */
export function gatewayTables({ gateway, own, proxy }: GatewayNames, allResults: readonly GatewayResult[]): string {
  const results = allResults.filter((result) => result.gateway === gateway);
  const [first] = results;
  if (first === undefined) throw new Error(`no results of ${gateway}; run npm run e2e -- --others`);
  const loads = (Object.keys(LOAD_NAMES) as readonly LoadKind[]).filter((load) =>
    results.some((result) => result.load === load),
  );
  const endings = ENDINGS.filter((ending) => results.some((result) => result.ending === ending));
  const head = ["load", ...endings.map((ending) => (ending === "own" ? own : ENDING_NAMES[ending]))];
  const rows = loads.map((load) => [
    LOAD_NAMES[load],
    ...endings.map((ending) => cellOf(results.find((result) => result.load === load && result.ending === ending))),
  ]);
  const dates = [...new Set(results.map(({ date }) => date))].sort().join(", ");
  return [
    `${first.versions}, ${dates}. Each cell: failed requests, the longest time from a Pod's deletion to the exit of ${proxy}, and the longest over-wait.`,
    table([head, ...rows]),
    memoryOf(results),
  ].join("\n\n");
}

function cellOf(result: GatewayResult | undefined): string {
  if (result === undefined) return "–";
  const { failed, requests, longestSeconds, longestOverWaitSeconds } = result;
  return `**${failed}** of ${requests}; ${longestSeconds.toFixed(1)} s; ${longestOverWaitSeconds.toFixed(1)} s`;
}

function memoryOf(results: readonly GatewayResult[]): string {
  const most = (sizes: readonly (number | undefined)[]): number => Math.max(...sizes.map((size) => size ?? 0));
  const own = most(results.map(({ ownManagerMiB }) => ownManagerMiB));
  const lastcallText = `lastcall's ${most(results.map(({ lastcallMiB }) => lastcallMiB)).toFixed(2)} MiB`;
  const managers = own === 0 ? lastcallText : `its own ${own.toFixed(1)} MiB, ${lastcallText}`;
  return `Resident memory of one manager before the rollout, at most: ${managers}.`;
}
