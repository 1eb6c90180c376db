/**
 * Limits the memory of all large request bodies, from the first byte to the response; one address gets at most two thirds. Above
 * the limit, the oldest incomplete body is rejected, because API servers complete a body within milliseconds. Bodies of unknown
 * clients are rejected first. The connection limit also limits the memory of small bodies. Pure.
 */

export type RejectReason = "slow_body" | "bodies_full";

/** Space for three bodies of the maximum size, two of them from one address. */
const BUDGET_BYTES = 24 * 1024 * 1024;

/** A body may take this time, which is the chart's default `timeoutSeconds`, plus its transfer time at the minimum rate. */
const GRACE_MS = 5_000;
/** Minimum rate, at which the largest body takes 28 s. API servers time out after at most 30 s. */
export const MIN_BYTES_PER_SECOND = 256 * 1024;

export function isTooSlow(receivedBytes: number, ageMs: number): boolean {
  return ageMs > GRACE_MS + (receivedBytes / MIN_BYTES_PER_SECOND) * 1_000;
}

type Reservation = {
  /** Updates the received and buffered bytes. May reject other bodies, or this body if it is the oldest. */
  readonly grow: (receivedBytes: number, bufferedBytes: number) => void;
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
  readonly reserve: (start: BodyStart, reject: (reason: RejectReason) => void) => Reservation;
  readonly rejectSlow: (nowMs: number) => void;
  readonly bufferedBytes: () => number;
  readonly incompleteBodyCount: () => number;
};

type Body = {
  receivedBytes: number;
  bufferedBytes: number;
  readonly startedAtMs: number;
  readonly address: string;
  readonly group: Set<Body>;
  readonly reject: (reason: RejectReason) => void;
};

export function createBodyBudget(
  limitBytes: number = BUDGET_BYTES,
  addressLimitBytes: number = (limitBytes * 2) / 3,
): BodyBudget {
  const unknownBodies = new Set<Body>();
  const knownBodies = new Set<Body>();
  const smallBodies = new Set<Body>();
  const bytesByAddress = new Map<string, number>();
  let bufferedBytes = 0;

  const setBuffered = (body: Body, bytes: number): void => {
    const change = bytes - body.bufferedBytes;
    body.bufferedBytes = bytes;
    bufferedBytes += change;
    const bytesOfAddress = (bytesByAddress.get(body.address) ?? 0) + change;
    if (bytesOfAddress === 0) bytesByAddress.delete(body.address);
    else bytesByAddress.set(body.address, bytesOfAddress);
  };
  const removeBody = (body: Body): void => {
    body.group.delete(body);
    if (body.bufferedBytes > 0) setBuffered(body, 0);
  };
  const reject = (body: Body, reason: RejectReason): void => {
    removeBody(body);
    body.reject(reason);
  };
  const findOldest = (isEligible: (body: Body) => boolean): Body | undefined => {
    for (const bodies of [unknownBodies, knownBodies]) for (const body of bodies) if (isEligible(body)) return body;
    return undefined;
  };
  const enforceLimits = (address: string): void => {
    for (;;) {
      const exceedsAddressLimit = (bytesByAddress.get(address) ?? 0) > addressLimitBytes;
      if (!exceedsAddressLimit && bufferedBytes <= limitBytes) return;
      const oldestBody = findOldest((body) => !exceedsAddressLimit || body.address === address);
      if (oldestBody === undefined) return;
      reject(oldestBody, "bodies_full");
    }
  };

  return {
    reserve: ({ nowMs, isKnown, isSmall, address }, onReject) => {
      const group = isSmall ? smallBodies : isKnown ? knownBodies : unknownBodies;
      const body: Body = { receivedBytes: 0, bufferedBytes: 0, startedAtMs: nowMs, address, group, reject: onReject };
      group.add(body);
      return {
        grow: (receivedBytes, buffered) => {
          if (!group.has(body)) return;
          body.receivedBytes = receivedBytes;
          if (isSmall) return;
          setBuffered(body, buffered);
          enforceLimits(address);
        },
        complete: () => group.delete(body),
        release: () => removeBody(body),
      };
    },
    rejectSlow: (nowMs) => {
      for (const body of [...unknownBodies, ...knownBodies, ...smallBodies]) {
        if (isTooSlow(body.receivedBytes, nowMs - body.startedAtMs)) reject(body, "slow_body");
      }
    },
    bufferedBytes: () => bufferedBytes,
    incompleteBodyCount: () => unknownBodies.size + knownBodies.size + smallBodies.size,
  };
}
