/** What a case asks the harness to roll, and what comes of it: plain JSON, as both sides are processes of their own. */
import type { LoadShape, RequestCounts } from "../../../src/demo/load/load.ts";
import type { PodEndFacts } from "./pod-end-facts.ts";

export type RollRequest = {
  /** Its Pods serve on their first containerPort, on every address. */
  readonly deployment: object;
  readonly variants: readonly RollVariant[];
};

export type RollVariant = {
  readonly name: string;
  /** Whether each Pod goes through the webhook. */
  readonly lastcall: boolean;
  readonly load: RollLoad;
  readonly annotations?: Readonly<Record<string, string>>;
};

export type RollLoad = Omit<LoadShape, "slowPath">;

export type RollResult = {
  /** The manager that drained: the native build, or the one on Node. */
  readonly manager: "native" | "node";
  readonly outcomes: Readonly<Record<string, RollOutcome>>;
};

export type RollOutcome = {
  readonly counts: RequestCounts;
  readonly ends: readonly RolledPodEnd[];
};

export type RolledPodEnd = PodEndFacts & {
  /** How much later than necessary the stop signal came: see `over-wait.ts`. 0 without lastcall. */
  readonly overWaitSeconds: number;
};

/** Clients whose connections live at most 5 s, in about 130 requests a second; four always hold one of 1 to 5 s. */
export const SHORT_LIVED_LOAD: RollLoad = {
  newConnectionClients: 4,
  pooledClients: 6,
  slowClients: 4,
  endlessClients: 0,
  maxConnectionMs: 5_000,
  path: "/",
};

/** Clients that never leave, most of them in the middle of a request at any time; no one else. */
export const ENDLESS_LOAD: RollLoad = {
  ...SHORT_LIVED_LOAD,
  newConnectionClients: 0,
  pooledClients: 0,
  slowClients: 0,
  endlessClients: 16,
  path: "/slow?ms=100",
};

/** A backend behind the Pods, for those that are proxies: the demo's sample app, which a rollout never touches. */
export const UPSTREAM = "10.66.0.1:9000";
