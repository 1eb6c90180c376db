/** Plans the load of a scenario. Pure. */
import { HTTP1_PORT, HTTP2_PORT } from "./app-facts.ts";
import { type Driver, type LoadPlan, type PerProtocol, type Protocol, perProtocol } from "./rollouts-request.ts";

const REQUESTS_PER_SECOND = 570;
const MAX_CONNECTION_LIFETIME_MS = 10_000;

export type ClientKind = "short-lived" | "endless";

export type LoadChoice = {
  readonly protocols: readonly Protocol[];
  readonly clients: ClientKind;
  readonly driver: Driver;
  readonly slowestResponseMs: number;
};

export function planLoad({ protocols, clients, driver, slowestResponseMs }: LoadChoice): LoadPlan {
  const hasHttp1 = protocols.includes("http1");
  const rates: PerProtocol<number> = perProtocol((protocol) =>
    protocols.includes(protocol) ? REQUESTS_PER_SECOND / protocols.length : 0,
  );
  return {
    rates,
    ports: perProtocol((protocol) => (protocol === "http1" || driver === "envoy" ? HTTP1_PORT : HTTP2_PORT)),
    lives: clients === "endless" ? "endless" : { leastMs: 1_000, mostMs: MAX_CONNECTION_LIFETIME_MS },
    keptHttp1: hasHttp1 ? 16 : 0,
    keptHttp2: 8,
    newConnectionEvery: 10,
    slowClients: hasHttp1 ? 2 : 0,
    slowestResponseMs,
    // Only the scenarios with short-lived clients and without a driver have idle connections.
    idleConnections: hasHttp1 && driver === "none" && clients === "short-lived",
  };
}
