/**
 * Limits the memory of all large request bodies, from the first byte to the response; one address gets at most two thirds. Above
 * the limit, the oldest incomplete body is rejected, because API servers complete a body within milliseconds. Bodies of unknown
 * clients are rejected first. The connection limit also limits the memory of small bodies. Pure.
 */

export type CutReason = "slow_body" | "bodies_full";

/** Three of the largest bodies, two of them from one address. */
const BUDGET_BYTES = 24 * 1024 * 1024;

/** Every body may take this time, the chart's default `timeoutSeconds`, plus the time at the minimum rate. */
const GRACE_MS = 5_000;
/** Minimum rate. The largest body takes 28 s at it; API servers time out after at most 30 s. */
export const LEAST_BYTES_PER_SECOND = 256 * 1024;

export function isTooSlow(receivedBytes: number, ageMs: number): boolean {
  return ageMs > GRACE_MS + (receivedBytes / LEAST_BYTES_PER_SECOND) * 1_000;
}

type Reservation = {
  /** Updates the received and buffered bytes. May reject other bodies, or this body if it is the oldest. */
  readonly grow: (receivedBytes: number, heldBytes: number) => void;
  /** A complete body is never rejected, and counts against the budget until `release`. */
  readonly complete: () => void;
  readonly release: () => void;
};

export type BodyStart = {
  readonly nowMs: number;
  readonly isKnown: boolean;
  readonly isSmall: boolean;
  readonly address: string;
};

export type BodyBudget = {
  readonly reserve: (from: BodyStart, cut: (why: CutReason) => void) => Reservation;
  readonly cutSlow: (nowMs: number) => void;
  readonly heldBytes: () => number;
  readonly unfinished: () => number;
};

type Body = {
  receivedBytes: number;
  heldBytes: number;
  readonly startedAtMs: number;
  readonly address: string;
  readonly among: Set<Body>;
  readonly cut: (why: CutReason) => void;
};

export function createBodyBudget(
  limitBytes: number = BUDGET_BYTES,
  addressBytes: number = (limitBytes * 2) / 3,
): BodyBudget {
  const unknown = new Set<Body>();
  const known = new Set<Body>();
  const small = new Set<Body>();
  const heldBy = new Map<string, number>();
  let heldBytes = 0;

  const hold = (body: Body, bytes: number): void => {
    const change = bytes - body.heldBytes;
    body.heldBytes = bytes;
    heldBytes += change;
    const ofAddress = (heldBy.get(body.address) ?? 0) + change;
    if (ofAddress === 0) heldBy.delete(body.address);
    else heldBy.set(body.address, ofAddress);
  };
  const drop = (body: Body): void => {
    body.among.delete(body);
    if (body.heldBytes > 0) hold(body, 0);
  };
  const cut = (body: Body, why: CutReason): void => {
    drop(body);
    body.cut(why);
  };
  const oldest = (mayBe: (body: Body) => boolean): Body | undefined => {
    for (const bodies of [unknown, known]) for (const body of bodies) if (mayBe(body)) return body;
    return undefined;
  };
  const makeRoom = (address: string): void => {
    for (;;) {
      const isGreedy = (heldBy.get(address) ?? 0) > addressBytes;
      if (!isGreedy && heldBytes <= limitBytes) return;
      const victim = oldest((body) => !isGreedy || body.address === address);
      if (victim === undefined) return;
      cut(victim, "bodies_full");
    }
  };

  return {
    reserve: ({ nowMs, isKnown, isSmall, address }, onCut) => {
      const among = isSmall ? small : isKnown ? known : unknown;
      const body: Body = { receivedBytes: 0, heldBytes: 0, startedAtMs: nowMs, address, among, cut: onCut };
      among.add(body);
      return {
        grow: (receivedBytes, held) => {
          if (!among.has(body)) return;
          body.receivedBytes = receivedBytes;
          if (isSmall) return;
          hold(body, held);
          makeRoom(address);
        },
        complete: () => among.delete(body),
        release: () => drop(body),
      };
    },
    cutSlow: (nowMs) => {
      for (const body of [...unknown, ...known, ...small]) {
        if (isTooSlow(body.receivedBytes, nowMs - body.startedAtMs)) cut(body, "slow_body");
      }
    },
    heldBytes: () => heldBytes,
    unfinished: () => unknown.size + known.size + small.size,
  };
}
