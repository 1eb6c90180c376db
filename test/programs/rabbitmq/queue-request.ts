/** Defines the request and the result of the queue cases in namespaces; both are JSON, because processes exchange them. */
import type { PodEndFacts } from "../harness/pod-end-facts.ts";

export type QueueRequest = {
  readonly python: string;
  readonly pythonPath: string;
  readonly consumers: readonly ConsumerScenario[];
  readonly brokers: readonly BrokerScenario[];
  readonly folder: string;
};

export type ConsumerScenario = {
  /** First cell of the scenario's row in the guide's table, with the settings after a semicolon. */
  readonly name: string;
  readonly lastcall: boolean;
  readonly annotations: Readonly<Record<string, string>>;
  /** `ends`: the consumer exits at SIGTERM. `finishes`: it does not accept more jobs, and finishes its open jobs. */
  readonly onSigterm: "ends" | "finishes";
  readonly graceSeconds: number;
  /** Address of the consumer's `active-url` and `drain-url`; empty for a consumer without these URLs. */
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
  /** Time from the Pod's deletion to the end of all its containers. */
  readonly endSeconds: number;
  readonly acknowledged: readonly string[];
  readonly remaining: readonly string[];
  /** Number of `remaining` jobs that the broker had delivered to the consumer; -1 if unknown. */
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
