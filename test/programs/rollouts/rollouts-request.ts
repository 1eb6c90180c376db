/** Defines the request and the result of repeated rollouts under load; both are JSON, because processes exchange them. */
import type { FoundProgram } from "../install/program-of.ts";

export const PROTOCOLS = ["http1", "http2", "grpc"] as const;

export type Protocol = (typeof PROTOCOLS)[number];

export type PerProtocol<T> = Readonly<Record<Protocol, T>>;

export function perProtocol<T>(createValue: (protocol: Protocol) => T): Record<Protocol, T> {
  return { http1: createValue("http1"), http2: createValue("http2"), grpc: createValue("grpc") };
}

export type Driver = "none" | "http" | "envoy";

/** Whether the app finishes its requests and closes its connections at its stop signal, or exits immediately. */
export type AppShutdown = "graceful" | "abrupt";

/**
 * The end of a Pod: with `preStop: sleep 5` and without lastcall, with lastcall's defaults, with `lastcall.dev/shutdown: graceful`, or with
 * a patience as long as the drain timeout.
 */
export type Ending = "sleep" | "defaults" | "declared" | "full wait";

export type RolloutsRequest = {
  readonly driver: Driver;
  readonly shutdown: AppShutdown;
  readonly ending: Ending;
  readonly envoy: FoundProgram | undefined;
  /** Number of rolling updates; each starts 2 s after the new Pods of the previous update are Ready. */
  readonly rollouts: number;
  /** Whether an update starts only after all Pods that the previous one replaced have ended, so that each Pod gets all kinds of clients. */
  readonly waitsForEnds: boolean;
  readonly settings: DrainSettings;
  readonly load: LoadPlan;
  /** Delay until a client process applies endpoint changes; each value starts one process. */
  readonly propagationMs: readonly number[];
};

export type DrainSettings = { readonly delayMs: number; readonly quietMs: number; readonly timeoutMs: number };

export type LoadPlan = {
  /** Requests per second of all nodes together; 0 for a protocol without load. */
  readonly rates: PerProtocol<number>;
  readonly ports: PerProtocol<number>;
  /** Range of the random lifetime of connections; `endless`: until `Connection: close` or GOAWAY. */
  readonly lives: { readonly leastMs: number; readonly mostMs: number } | "endless";
  readonly keptHttp1: number;
  readonly keptHttp2: number;
  /** N: every Nth HTTP/1.1 request uses a new connection. */
  readonly newConnectionEvery: number;
  /** HTTP/1.1 clients of each node that always wait for a slow response, each on its own connection. */
  readonly slowClients: number;
  /** Slow responses take between 1 s and this time. */
  readonly slowestResponseMs: number;
  /** Each node keeps one idle HTTP/1.1 connection to every Pod, after one request. */
  readonly idleConnections: boolean;
};

export type FailedRequest = {
  readonly protocol: Protocol;
  readonly kind: string;
  readonly pod: string;
  readonly atMs: number;
  readonly connectionAgeMs: number;
  readonly requestsBefore: number;
};

export type NodeResult = {
  readonly answered: PerProtocol<number>;
  readonly failed: PerProtocol<number>;
  readonly failures: readonly FailedRequest[];
  readonly measuredMs: number;
  readonly perSecond: readonly number[];
  readonly longestStallMs: number;
  /** Time of the last request, response or close of this node's clients, on the shared clock; the keys are Pod addresses. */
  readonly lastWorkMs: Readonly<Record<string, number>>;
};

export type DrainFacts = {
  readonly outcome: string;
  readonly why: string;
  readonly drainMs: number;
  /** See `harness/over-wait.ts`. */
  readonly overWaitMs: number;
  readonly leftTotal: number;
  readonly served: boolean;
};

export type RolloutsResult = {
  readonly manager: "native" | "node";
  readonly nodes: readonly NodeResult[];
  readonly drains: readonly DrainFacts[];
  /** 1-minute load average of the machine at the end. */
  readonly machineLoad: number;
  readonly processors: number;
};
