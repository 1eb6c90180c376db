/** Records the time of each failed request, to find it in the Pods' timeline. */
import type { FailureKind } from "../../src/demo/load/http-client.ts";
import type { ClientKind, RequestCounter } from "../../src/demo/load/load.ts";

export type FailedRequest = { readonly at: string; readonly client: ClientKind; readonly kind: FailureKind };

/** Only the first failures are recorded; the counts include all. */
const MAX_FAILURES = 20;

export function recordFailures(
  counter: RequestCounter,
  nowMs: () => number,
): { readonly counter: RequestCounter; readonly list: () => readonly FailedRequest[] } {
  const failures: FailedRequest[] = [];
  return {
    counter: {
      counts: counter.counts,
      count: (client, kind) => {
        counter.count(client, kind);
        if (kind !== undefined && failures.length < MAX_FAILURES)
          failures.push({ at: new Date(nowMs()).toISOString(), client, kind });
      },
    },
    list: () => failures,
  };
}
