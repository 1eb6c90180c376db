/** The load of the rollouts. Pure. */
import { HTTP1_PORT, HTTP2_PORT } from "./app-facts.ts";
import { type Driver, type LoadPlan, type PerProtocol, type Protocol, perProtocol } from "./rollouts-request.ts";

/** What is asked each second, of all protocols together. */
const ASKED_RATE = 570;
/** The longest life of a connection whose client is not endless. */
const LONGEST_LIFE_MS = 10_000;

export type Clients = "short-lived" | "endless";

export type LoadChoice = {
  /** They share the rate. */
  readonly protocols: readonly Protocol[];
  readonly clients: Clients;
  readonly driver: Driver;
};

export function loadPlan({ protocols, clients, driver }: LoadChoice): LoadPlan {
  const withHttp1 = protocols.includes("http1");
  const rates: PerProtocol<number> = perProtocol((one) =>
    protocols.includes(one) ? ASKED_RATE / protocols.length : 0,
  );
  return {
    rates,
    // Envoy speaks both versions on one port.
    ports: perProtocol((one) => (one === "http1" || driver === "envoy" ? HTTP1_PORT : HTTP2_PORT)),
    lives: clients === "endless" ? "endless" : { leastMs: 1_000, mostMs: LONGEST_LIFE_MS },
    keptHttp1: withHttp1 ? 16 : 0,
    keptHttp2: 8,
    newConnectionEvery: 10,
    slowClients: withHttp1 ? 2 : 0,
    // An endless client that is silent for longer than the quiet period is another case.
    idleKeepers: withHttp1 && driver === "none" && clients === "short-lived",
  };
}
