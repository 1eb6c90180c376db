/** `POST /v1/withdrawal`: who asks, what about, and then a line for every change. */
import type { Server } from "node:https";
import type { FastifyInstance } from "fastify";
import type { Registry } from "prom-client";
import { WITHDRAWAL_PATH } from "../../contract/relay-wire.ts";
import type { CheckCredential } from "../credential-check.ts";
import type { RelayLimits } from "../limits/relay-limits.ts";
import type { Clock } from "../slices/clock.ts";
import type { WatchPod } from "../slices/slice-watches.ts";

export type WithdrawalPorts = {
  readonly checkCredential: CheckCredential;
  readonly watchPod: WatchPod;
  /** Shared with the other routes of the relay. */
  readonly limits: RelayLimits;
  readonly clock: Clock;
  readonly registry: Registry;
};

/** To be called before the server listens. Open streams end when the server begins to close. */
export function addWithdrawalRoute(app: FastifyInstance<Server>, _ports: WithdrawalPorts): void {
  app.post(WITHDRAWAL_PATH, async (_request, reply) => reply.code(503).send());
}
