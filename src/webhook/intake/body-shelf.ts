/**
 * The memory of all large bodies between their first byte and their answer: one bound for all of them, and two thirds of it for
 * one address. Where it is reached the body that began first is cut, because it has had the most time; an honest one is there within
 * milliseconds. Bodies of unknown clients go before those of connections that have had a review answered. Small bodies are
 * not cut for room: the number of connections bounds them.
 */

/** Why a body was cut. */
export type Cut = "slow_body" | "bodies_full";

/** Three of the largest bodies, two of them of one address. */
const SHELF_BYTES = 24 * 1024 * 1024;

/** How long a body may take whatever its length: the default timeout of an API server's call in this chart. */
const PATIENCE_MS = 5_000;
/** With it the largest body takes 28 s, and an API server gives up after 30. */
export const LEAST_BYTES_PER_SECOND = 256 * 1024;

/** Pure. */
export function isTooSlow(receivedBytes: number, ageMs: number): boolean {
  return ageMs > PATIENCE_MS + (receivedBytes / LEAST_BYTES_PER_SECOND) * 1_000;
}

/** One body's place. */
type Place = {
  /** Bytes came; `heldBytes` are kept of the body now. Older bodies may be cut for it, and it itself if that is not enough. */
  readonly grow: (receivedBytes: number, heldBytes: number) => void;
  /** It is whole: no longer cut for being slow or to make room. It still takes memory. */
  readonly whole: () => void;
  /** Answered, or its sender left. */
  readonly leave: () => void;
};

export type Beginning = {
  readonly nowMs: number;
  readonly isKnown: boolean;
  readonly isSmall: boolean;
  readonly address: string;
};

export type BodyShelf = {
  readonly take: (from: Beginning, cut: (why: Cut) => void) => Place;
  /** Cuts the bodies that are too slow at this time. */
  readonly look: (nowMs: number) => void;
  readonly heldBytes: () => number;
  /** Bodies that are not whole. */
  readonly unfinished: () => number;
};

type Body = {
  receivedBytes: number;
  heldBytes: number;
  readonly beganMs: number;
  readonly address: string;
  /** Where it is while it is not whole. */
  readonly among: Set<Body>;
  readonly cut: (why: Cut) => void;
};

/** @param addressBytes the most that one address may take */
export function bodyShelf(limitBytes: number = SHELF_BYTES, addressBytes: number = (limitBytes * 2) / 3): BodyShelf {
  // Each in the order of their beginnings.
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
  const cut = (body: Body, why: Cut): void => {
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
      // All of them are whole, and only wait for their turn.
      if (victim === undefined) return;
      cut(victim, "bodies_full");
    }
  };

  return {
    take: ({ nowMs, isKnown, isSmall, address }, onCut) => {
      const among = isSmall ? small : isKnown ? known : unknown;
      const body: Body = { receivedBytes: 0, heldBytes: 0, beganMs: nowMs, address, among, cut: onCut };
      among.add(body);
      return {
        grow: (receivedBytes, held) => {
          if (!among.has(body)) return;
          body.receivedBytes = receivedBytes;
          if (isSmall) return;
          hold(body, held);
          makeRoom(address);
        },
        whole: () => among.delete(body),
        leave: () => drop(body),
      };
    },
    look: (nowMs) => {
      for (const body of [...unknown, ...known, ...small]) {
        if (isTooSlow(body.receivedBytes, nowMs - body.beganMs)) cut(body, "slow_body");
      }
    },
    heldBytes: () => heldBytes,
    unfinished: () => unknown.size + known.size + small.size,
  };
}
