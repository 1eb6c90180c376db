/**
 * Chooses the connection that is closed when there are too many: one of the address with the most, or of any address where none
 * has many. A client is unknown until one of its reviews is answered, and goes before a known one; a connection whose request is
 * arriving goes last. A connection that is being answered is never closed. No I/O: tests give it plain objects.
 */

type Closable = { readonly destroy: () => void };

export type Connection = {
  /** The head of a request arrived. */
  readonly asking: () => void;
  /** Work for it is under way here, until {@link Connection.answered}. */
  readonly answering: () => void;
  /** @param isReview an admission review was answered with a verdict */
  readonly answered: (isReview: boolean) => void;
  readonly closed: () => void;
  /** It has had a review answered. */
  readonly isKnown: () => boolean;
};

export type ConnectionPlaces = {
  /** Another one is closed for it where there are too many, or it is closed itself. */
  readonly add: (socket: Closable, address: string) => Connection;
  readonly open: () => number;
};

/**
 * An API server has as many connections as admissions under way, and keeps 25 of them. One takes up to 110 KB here: with 1 024 a
 * replica under several attacks took 440 MB. The shares of 16 addresses fit; at 512, where they just did, new connections of
 * other addresses were closed.
 */
const CONNECTION_LIMIT = 576;

/** More than the 25 that an API server keeps: an address beyond it may lose its own. */
const ADDRESS_SHARE = 28;

type Stage = "unknown" | "known" | "asking";
type Entry = {
  readonly socket: Closable;
  readonly address: string;
  underWay: number;
  isKnown: boolean;
  asks: boolean;
  /** The stage that holds it; `undefined` while it is busy or closed. */
  among: Set<Entry> | undefined;
};

export function connectionPlaces(
  onCut: () => void,
  limit: number = CONNECTION_LIMIT,
  addressShare: number = ADDRESS_SHARE,
): ConnectionPlaces {
  const waiting = waitingConnections(addressShare);
  /** Set aside: no search passes them. */
  const busy = new Set<Entry>();
  return {
    add: (socket, address) => {
      const entry: Entry = { socket, address, underWay: 0, isKnown: false, asks: false, among: undefined };
      waiting.enter(entry);
      if (waiting.size() + busy.size > limit) {
        const victim = waiting.nextToGo(entry);
        waiting.take(victim);
        onCut();
        victim.socket.destroy();
      }
      return {
        asking: () => {
          if (entry.among === undefined) return;
          entry.asks = true;
          waiting.restage(entry);
        },
        answering: () => {
          entry.underWay += 1;
          if (entry.underWay > 1) return;
          waiting.take(entry);
          busy.add(entry);
        },
        answered: (isReview) => {
          entry.isKnown ||= isReview;
          entry.asks = false;
          entry.underWay -= 1;
          // It may have closed meanwhile.
          if (entry.underWay === 0 && busy.delete(entry)) waiting.enter(entry);
        },
        closed: () => {
          busy.delete(entry);
          waiting.take(entry);
        },
        isKnown: () => entry.isKnown,
      };
    },
    open: () => waiting.size() + busy.size,
  };
}

type WaitingConnections = {
  readonly enter: (entry: Entry) => void;
  readonly take: (entry: Entry) => void;
  /** Moves it to the end of the stage that its fields name now. */
  readonly restage: (entry: Entry) => void;
  readonly size: () => number;
  readonly nextToGo: (newest: Entry) => Entry;
};

function waitingConnections(addressShare: number): WaitingConnections {
  /** In this order they are closed; within each the one that entered first. */
  const stages: Readonly<Record<Stage, Set<Entry>>> = { unknown: new Set(), known: new Set(), asking: new Set() };
  const inOrder = [stages.unknown, stages.known, stages.asking];
  const heldBy = new Map<string, number>();

  const count = (address: string, change: number): void => {
    const held = (heldBy.get(address) ?? 0) + change;
    if (held === 0) heldBy.delete(address);
    else heldBy.set(address, held);
  };
  const first = (stages: readonly Set<Entry>[], mayGo: (entry: Entry) => boolean): Entry | undefined => {
    for (const stage of stages) for (const entry of stage) if (mayGo(entry)) return entry;
    return undefined;
  };
  const greediest = (): string | undefined => {
    let most = addressShare;
    let found: string | undefined;
    for (const [address, held] of heldBy) {
      if (held <= most) continue;
      most = held;
      found = address;
    }
    return found;
  };

  const stage = (entry: Entry): void => {
    entry.among = stages[stageOf(entry)];
    entry.among.add(entry);
  };

  return {
    enter: (entry) => {
      stage(entry);
      count(entry.address, 1);
    },
    take: (entry) => {
      if (entry.among === undefined) return;
      entry.among.delete(entry);
      entry.among = undefined;
      count(entry.address, -1);
    },
    restage: (entry) => {
      entry.among?.delete(entry);
      stage(entry);
    },
    size: () => stages.unknown.size + stages.known.size + stages.asking.size,
    // The newest is unknown too, and is closed only where no other can be.
    nextToGo: (newest) => {
      const address = greediest();
      const victim = first(
        inOrder,
        (entry) => entry !== newest && (address === undefined || entry.address === address),
      );
      return victim ?? newest;
    },
  };
}

function stageOf({ asks, isKnown }: Entry): Stage {
  if (asks) return "asking";
  return isKnown ? "known" : "unknown";
}
