/** A drain whose stream broke, and the answers of an API server about its Pod. */
import type { ApiResponse } from "../../../src/api-server/api-request.ts";
import type { BrokenDrain } from "../../../src/relay/lost/lost-drain.ts";
import { CLAIMS } from "../drains/drains-server.ts";

export const BROKE_AT = Date.UTC(2026, 10, 18, 11, 6, 40);

export const BROKEN: BrokenDrain = {
  pod: { namespace: "shop", pod: "web-1", uid: "uid-1" },
  claims: CLAIMS,
  openedAtMs: BROKE_AT - 4_000,
  brokeAtMs: BROKE_AT,
  state: "out",
  graceSeconds: 60,
};

type Choices = {
  readonly list?: "initContainerStatuses" | "containerStatuses";
  readonly name?: string;
  readonly deleted?: boolean;
  readonly lastState?: object;
};

export function podAnswer(state: object, choices: Choices = {}): ApiResponse {
  const { list = "initContainerStatuses", name = "lastcall", deleted = true, lastState = {} } = choices;
  const metadata = { uid: "uid-1", ...(deleted ? { deletionTimestamp: "2026-11-18T11:06:36Z" } : {}) };
  return { status: 200, text: JSON.stringify({ metadata, status: { [list]: [{ name, state, lastState }] } }) };
}

export const RUNNING = podAnswer({ running: {} });
export const KILLED = podAnswer({
  terminated: { exitCode: 137, reason: "Error", finishedAt: new Date(BROKE_AT).toISOString() },
});
