/** Defines the request and the result of a rollout in namespaces; both are JSON, because processes exchange them. */
import type { LoadOptions, RequestCounts } from "../../../src/demo/load/load.ts";
import type { PodEndFacts } from "./pod-end-facts.ts";

export type RollRequest = {
  /** The Deployment's Pods have to listen on their first containerPort, on every address. */
  readonly deployment: object;
  readonly variants: readonly RollVariant[];
};

export type RollVariant = {
  readonly name: string;
  readonly lastcall: boolean;
  readonly load: RollLoad;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Duration of the containers' preStop hook `sleep`; absent if they do not have this hook. */
  readonly sleepSeconds?: number;
};

export type RollLoad = Omit<LoadOptions, "slowPath">;

export type RollResult = {
  readonly manager: "native" | "node";
  readonly outcomes: Readonly<Record<string, RollOutcome>>;
};

export type RollOutcome = {
  readonly counts: RequestCounts;
  readonly ends: readonly RolledPodEnd[];
};

export type RolledPodEnd = PodEndFacts & {
  /** See `over-wait.ts`; 0 without lastcall. */
  readonly overWaitSeconds: number;
};

/** About 130 requests a second on connections of at most 5 s; four clients always wait for a response that takes 1 to 5 s. */
export const SHORT_LIVED_LOAD: RollLoad = {
  newConnectionClients: 4,
  pooledClients: 6,
  slowClients: 4,
  endlessClients: 0,
  maxConnectionMs: 5_000,
  path: "/",
};

/** Clients that never close; most of them have a request in flight at any time. */
export const ENDLESS_LOAD: RollLoad = {
  ...SHORT_LIVED_LOAD,
  newConnectionClients: 0,
  pooledClients: 0,
  slowClients: 0,
  endlessClients: 16,
  path: "/slow?ms=100",
};

/** Upstream of the Pods that are proxies: the demo's sample app, which is not updated. */
export const UPSTREAM_ADDRESS = "10.66.0.1:9000";
