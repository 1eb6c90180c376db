/** Defines the dependencies of a node's clients, and their interface to the pacing loop. */
import type { HttpTarget } from "../../../../src/demo/load/http-client.ts";
import type { LoadPlan } from "../rollouts-request.ts";
import type { NodeCounter } from "./node-counter.ts";

export type NodePorts = {
  readonly plan: LoadPlan;
  readonly counter: NodeCounter;
  readonly nowMs: () => number;
  readonly random: () => number;
  /** Returns the Pod for a new connection; `undefined` without usable endpoints. */
  readonly nextPod: () => string | undefined;
  readonly usablePods: () => readonly string[];
  readonly target: Pick<HttpTarget, "clock" | "localAddress" | "timeoutMs">;
};

export type NodeClients = {
  readonly sendRequest: () => void;
  /** Closes connections at the end of their lifetime, after their requests in flight. */
  readonly closeExpired: () => void;
  readonly stop: () => Promise<void>;
};
