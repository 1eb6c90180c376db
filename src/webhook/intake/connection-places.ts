/**
 * Which connection has to go when there are too many. A stranger, which has had no review answered, goes before one that
 * has; one that is being answered never goes. No I/O: tests give it plain objects.
 */

export type Closable = { readonly destroy: () => void };

export type Connection = {
  /** Work for it is under way here, until {@link Connection.answered}. */
  readonly answering: () => void;
  /** @param isReview an admission review was answered with a verdict */
  readonly answered: (isReview: boolean) => void;
  readonly closed: () => void;
  /** It has had a review answered. */
  readonly isKnown: () => boolean;
};

export type ConnectionPlaces = {
  /** Another one has to go for it where there are too many, or it goes itself. */
  readonly add: (socket: Closable, address: string) => Connection;
  readonly open: () => number;
};

/**
 * An API server has as many connections as admissions under way, and keeps 25 of them. TLS and its sockets take 70 KB
 * each here.
 */
export const CONNECTION_LIMIT = 1_024;

/** An address that idles on more than this share of all places loses its own before any other does. */
const SHARE_OF_ADDRESS = 1 / 4;

type Entry = { readonly socket: Closable; readonly address: string; underWay: number; isKnown: boolean };

export function connectionPlaces(onCut: () => void, limit: number = CONNECTION_LIMIT): ConnectionPlaces {
  const idle = idleConnections(limit * SHARE_OF_ADDRESS);
  /** Set aside: no search passes them. */
  const busy = new Set<Entry>();
  const leave = (entry: Entry): void => {
    busy.delete(entry);
    idle.take(entry);
  };
  return {
    add: (socket, address) => {
      const entry: Entry = { socket, address, underWay: 0, isKnown: false };
      idle.enter(entry);
      if (idle.size() + busy.size > limit) {
        const victim = idle.nextToGo(entry);
        idle.take(victim);
        onCut();
        victim.socket.destroy();
      }
      return {
        answering: () => {
          entry.underWay += 1;
          if (entry.underWay > 1) return;
          idle.take(entry);
          busy.add(entry);
        },
        answered: (isReview) => {
          entry.isKnown ||= isReview;
          entry.underWay -= 1;
          // It may have closed meanwhile.
          if (entry.underWay === 0 && busy.delete(entry)) idle.enter(entry);
        },
        closed: () => leave(entry),
        isKnown: () => entry.isKnown,
      };
    },
    open: () => idle.size() + busy.size,
  };
}

type IdleConnections = {
  readonly enter: (entry: Entry) => void;
  readonly take: (entry: Entry) => void;
  readonly size: () => number;
  readonly nextToGo: (newest: Entry) => Entry;
};

/** @param mostOfAddress how many one address may have before its own go first */
function idleConnections(mostOfAddress: number): IdleConnections {
  /** The oldest first. */
  const strangers = new Set<Entry>();
  /** The least recently used first. */
  const known = new Set<Entry>();
  /** How many of both each address has. */
  const heldBy = new Map<string, number>();

  const count = (address: string, change: number): void => {
    const held = (heldBy.get(address) ?? 0) + change;
    if (held === 0) heldBy.delete(address);
    else heldBy.set(address, held);
  };
  const firstOf = (address: string): Entry | undefined => {
    for (const entry of strangers) if (entry.address === address) return entry;
    for (const entry of known) if (entry.address === address) return entry;
    return undefined;
  };
  const greedy = (): Entry | undefined => {
    for (const [address, held] of heldBy) if (held > mostOfAddress) return firstOf(address);
    return undefined;
  };

  return {
    enter: (entry) => {
      (entry.isKnown ? known : strangers).add(entry);
      count(entry.address, 1);
    },
    take: (entry) => {
      if (known.delete(entry) || strangers.delete(entry)) count(entry.address, -1);
    },
    size: () => strangers.size + known.size,
    nextToGo: (newest) => {
      // The newest is a stranger itself, and goes only when no other can.
      const [oldest] = strangers.size > 1 ? strangers : known;
      return greedy() ?? oldest ?? newest;
    },
  };
}
