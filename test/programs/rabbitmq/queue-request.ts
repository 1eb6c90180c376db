/** What the cases ask of a broker, consumers and clients in namespaces, and what comes of it: plain JSON. */
import type { PodEndFacts } from "../harness/pod-end-facts.ts";

export type QueueRequest = {
  /** Python's command line, and where pika is. */
  readonly python: string;
  readonly pythonPath: string;
  readonly consumers: readonly ConsumerScene[];
  readonly brokers: readonly BrokerScene[];
  readonly folder: string;
};

export type ConsumerScene = {
  /** As the table of the guide calls it. */
  readonly name: string;
  readonly lastcall: boolean;
  readonly annotations: Readonly<Record<string, string>>;
  /** At SIGTERM it ends at once, or takes no more and finishes what it has. */
  readonly onSigterm: "ends" | "finishes";
  readonly graceSeconds: number;
  /** Where it answers how many jobs it has, and is told to take no more; empty: nowhere. */
  readonly statusOn: string;
};

/** A broker behind lastcall. */
export type BrokerScene = {
  readonly name: string;
  readonly client: "pausing" | "acknowledging" | "busy";
  readonly ownHook?: string;
};

/** Of every scene with a consumer. */
export const JOBS = 40;
export const PREFETCH = 4;
export const JOB_SECONDS = 4;

export type ConsumerEnd = PodEndFacts & {
  /** From the deletion until nothing of the Pod was left. */
  readonly endSeconds: number;
  readonly acknowledged: readonly string[];
  /** Jobs the queue still held afterwards, and how many of them had been delivered before. */
  readonly left: readonly string[];
  readonly redelivered: number;
  /** What the webhook made of the grace period. */
  readonly graceSeconds: number;
};

export type BrokerEnd = PodEndFacts & {
  readonly endSeconds: number;
  readonly injected: boolean;
  /** From the deletion until the client's connection was closed. */
  readonly closedAfterSeconds: number;
  readonly unconfirmed: number;
};

export type QueueResult = {
  readonly manager: "native" | "node";
  readonly consumers: Readonly<Record<string, ConsumerEnd>>;
  readonly brokers: Readonly<Record<string, BrokerEnd>>;
};
