/** Defines a drain whose stream broke, and responses of an API server with its Pod. */
import type { ApiResponse } from "../../../src/api-server/api-request.ts";
import type { BrokenDrain } from "../../../src/relay/lost/lost-drain.ts";
import { CLAIMS } from "../drains/drains-server.ts";

export const BROKE_AT_MS = Date.UTC(2026, 10, 18, 11, 6, 40);

export const BROKEN_DRAIN: BrokenDrain = {
  pod: { namespace: "shop", pod: "web-1", uid: "uid-1" },
  claims: CLAIMS,
  openedAtMs: BROKE_AT_MS - 4_000,
  brokeAtMs: BROKE_AT_MS,
  state: "out",
  graceSeconds: 60,
};

type PodOptions = {
  readonly field?: "initContainerStatuses" | "containerStatuses";
  readonly name?: string;
  readonly isDeleted?: boolean;
  readonly lastState?: object;
};

export function podResponse(state: object, options: PodOptions = {}): ApiResponse {
  const { field = "initContainerStatuses", name = "lastcall", isDeleted = true, lastState = {} } = options;
  const metadata = { uid: "uid-1", ...(isDeleted ? { deletionTimestamp: "2026-11-18T11:06:36Z" } : {}) };
  return { status: 200, text: JSON.stringify({ metadata, status: { [field]: [{ name, state, lastState }] } }) };
}

export const POD_WITH_RUNNING_MANAGER = podResponse({ running: {} });
export const POD_WITH_KILLED_MANAGER = podResponse({
  terminated: { exitCode: 137, reason: "Error", finishedAt: new Date(BROKE_AT_MS).toISOString() },
});
