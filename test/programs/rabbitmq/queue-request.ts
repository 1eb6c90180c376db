/** Defines the request and the result of the queue cases in namespaces; both are JSON, as they cross processes. */
import type { PodEndFacts } from "../harness/pod-end-facts.ts";

export type QueueRequest = {
  readonly python: string;
  readonly pythonPath: string;
  readonly consumers: readonly ConsumerScenario[];
  readonly brokers: readonly BrokerScenario[];
  readonly folder: string;
};

export type ConsumerScenario = {
  /** Row of the guide's table. */
  readonly name: string;
  readonly lastcall: boolean;
  readonly annotations: Readonly<Record<string, string>>;
  /** At SIGTERM the consumer exits at once, or takes no more jobs and finishes those it has. */
  readonly onSigterm: "ends" | "finishes";
  readonly graceSeconds: number;
  /** Address of its `active-url` and `drain-url`; empty for a consumer without them. */
  readonly statusOn: string;
};

export type BrokerScenario = {
  readonly name: string;
  readonly client: "pausing" | "acknowledging" | "busy";
  readonly ownHook?: string;
};

export const JOBS = 40;
export const PREFETCH = 4;
export const JOB_SECONDS = 4;

export type ConsumerEnd = PodEndFacts & {
  /** From the deletion until nothing of the Pod was left. */
  readonly endSeconds: number;
  readonly acknowledged: readonly string[];
  readonly remaining: readonly string[];
  /** Jobs of `remaining` that had been delivered before. */
  readonly redelivered: number;
  readonly graceSeconds: number;
};

export type BrokerEnd = PodEndFacts & {
  readonly endSeconds: number;
  readonly injected: boolean;
  readonly closedAfterSeconds: number;
  readonly unconfirmed: number;
};

export type QueueResult = {
  readonly manager: "native" | "node";
  readonly consumers: Readonly<Record<string, ConsumerEnd>>;
  readonly brokers: Readonly<Record<string, BrokerEnd>>;
};
