/** What is rolled again and again, under which load, and what came of it: plain JSON, as each side is a process of its own. */
import type { FoundProgram } from "../install/program-of.ts";

export const PROTOCOLS = ["http1", "http2", "grpc"] as const;

export type Protocol = (typeof PROTOCOLS)[number];

export type PerProtocol<T> = Readonly<Record<Protocol, T>>;

export function perProtocol<T>(of: (protocol: Protocol) => T): Record<Protocol, T> {
  return { http1: of("http1"), http2: of("http2"), grpc: of("grpc") };
}

export type Driver = "none" | "http" | "envoy";

export type RolloutsRequest = {
  readonly driver: Driver;
  /** Needed where the driver is `envoy`. */
  readonly envoy: FoundProgram | undefined;
  /** Rolling updates, one after the other: the next begins 2 s after the new Pods of the last are Ready. */
  readonly rollouts: number;
  readonly settings: DrainSettings;
  readonly load: LoadPlan;
  /** How late each client node learns of endpoint changes. One process of clients each. */
  readonly propagationMs: readonly number[];
};

/** As the Deployment's annotations have them. */
export type DrainSettings = { readonly delayMs: number; readonly quietMs: number; readonly timeoutMs: number };

export type LoadPlan = {
  /** Requests per second of all nodes together; 0 leaves the protocol out. */
  readonly rates: PerProtocol<number>;
  readonly ports: PerProtocol<number>;
  /** Each connection lives a random time between the two; `endless`: until it is told to go. */
  readonly lives: { readonly leastMs: number; readonly mostMs: number } | "endless";
  /** Of each node: connections that are kept, in HTTP/1.1 and in HTTP/2 each. */
  readonly keptHttp1: number;
  readonly keptHttp2: number;
  /** Every so many HTTP/1.1 requests one has a connection of its own. */
  readonly newConnectionEvery: number;
  /** Of each node: HTTP/1.1 clients that always wait for an answer of 1 to 4 s, each on a connection of its own. */
  readonly slowClients: number;
  /** Each node asks every new Pod once over HTTP/1.1 and keeps that connection, silent, for ever. */
  readonly idleKeepers: boolean;
};

export type FailedRequest = {
  readonly protocol: Protocol;
  readonly kind: string;
  readonly pod: string;
  /** On the clock that all processes of the machine share. */
  readonly atMs: number;
  readonly connectionAgeMs: number;
  readonly requestsBefore: number;
};

/** What one node of clients counted between `measure` and `stop`. */
export type NodeResult = {
  readonly answered: PerProtocol<number>;
  readonly failed: PerProtocol<number>;
  /** The first of those that failed. */
  readonly failures: readonly FailedRequest[];
  readonly measuredMs: number;
  /** Answers in each whole second of that time. */
  readonly perSecond: readonly number[];
  /** The longest time in which this process got no processor. */
  readonly longestStallMs: number;
  /** By the Pod's address, on the shared clock: when it last did anything for a client of this node. */
  readonly lastWorkMs: Readonly<Record<string, number>>;
};

export type DrainFacts = {
  readonly outcome: string;
  readonly why: string;
  /** From the deletion to the stop signal. */
  readonly drainMs: number;
  /** From the moment when everything was done to that signal: see `harness/over-wait.ts`. */
  readonly overWaitMs: number;
  readonly leftTotal: number;
  /** Whether any client ever came. */
  readonly served: boolean;
};

export type RolloutsResult = {
  readonly manager: "native" | "node";
  readonly nodes: readonly NodeResult[];
  readonly drains: readonly DrainFacts[];
  /** 1-minute load average of the machine at the end, and its processors. */
  readonly machineLoad: number;
  readonly processors: number;
};
