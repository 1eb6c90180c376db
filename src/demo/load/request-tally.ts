/** Counts of requests and of failures by kind and by client. */
import { FAILURE_KINDS, type FailureKind } from "./http-client.ts";

export type ClientKind = "new-connection" | "pooled" | "slow" | "long" | "endless";

export type Tally = {
  readonly requests: number;
  readonly failed: number;
  readonly kinds: Readonly<Record<FailureKind, number>>;
  readonly clients: Readonly<Record<ClientKind, { readonly requests: number; readonly failed: number }>>;
};

export type RequestCounter = {
  readonly count: (client: ClientKind, failure: FailureKind | undefined) => void;
  readonly tally: () => Tally;
};

const CLIENT_KINDS: readonly ClientKind[] = ["new-connection", "pooled", "slow", "long", "endless"];

export function createRequestCounter(): RequestCounter {
  const failures = new Map<FailureKind, number>(FAILURE_KINDS.map((kind) => [kind, 0]));
  const clients = new Map<ClientKind, { requests: number; failed: number }>(
    CLIENT_KINDS.map((kind) => [kind, { requests: 0, failed: 0 }]),
  );
  return {
    count: (client, failure) => {
      const counts = clients.get(client);
      if (counts === undefined) return;
      counts.requests += 1;
      if (failure === undefined) return;
      counts.failed += 1;
      failures.set(failure, (failures.get(failure) ?? 0) + 1);
    },
    tally: () => {
      const all = [...clients.values()];
      const of = (kind: ClientKind) => ({ ...(clients.get(kind) ?? { requests: 0, failed: 0 }) });
      const kind = (name: FailureKind) => failures.get(name) ?? 0;
      return {
        requests: all.reduce((sum, counts) => sum + counts.requests, 0),
        failed: all.reduce((sum, counts) => sum + counts.failed, 0),
        kinds: {
          refused: kind("refused"),
          reset: kind("reset"),
          "closed-unanswered": kind("closed-unanswered"),
          "timed-out": kind("timed-out"),
          "bad-status": kind("bad-status"),
        },
        clients: {
          "new-connection": of("new-connection"),
          pooled: of("pooled"),
          slow: of("slow"),
          long: of("long"),
          endless: of("endless"),
        },
      };
    },
  };
}
