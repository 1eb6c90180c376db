/** What the clients of a node are handed, and what they offer to the one who paces them. */
import type { HttpTarget } from "../../../../src/demo/load/http-client.ts";
import type { LoadPlan } from "../rollouts-request.ts";
import type { WorkBook } from "./work-book.ts";

export type NodePorts = {
  readonly plan: LoadPlan;
  readonly book: WorkBook;
  /** The clock that all processes of the machine share. */
  readonly nowMs: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  /** The Pod for a new connection; `undefined` where none is known. */
  readonly nextPod: () => string | undefined;
  readonly usablePods: () => readonly string[];
  readonly target: Pick<HttpTarget, "clock" | "localAddress" | "timeoutMs">;
};

export type NodeClients = {
  /** Sends one request now. */
  readonly ask: () => void;
  /** Ends connections whose life is over, without harm to requests under way. */
  readonly sweep: () => void;
  /** Resolves when everything that was asked is answered or has failed. */
  readonly stop: () => Promise<void>;
};
