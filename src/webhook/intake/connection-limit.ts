/**
 * Limits the number of connections. Over the limit one is closed: of the address with the most connections, if any exceeds its
 * share. Clients without an answered review are closed first, connections with an arriving request last, and connections
 * with a review in progress never. Pure.
 */

type Closable = { readonly destroy: () => void };

export type Connection = {
  readonly requestStarted: () => void;
  /** A request is in progress until {@link Connection.answered}. */
  readonly responseStarted: () => void;
  readonly answered: (isReview: boolean) => void;
  readonly closed: () => void;
  readonly isKnown: () => boolean;
};

export type ConnectionLimit = {
  /** Over the limit, closes another connection or this one. */
  readonly add: (socket: Closable, address: string) => Connection;
  readonly open: () => number;
};

/**
 * An API server opens one connection per concurrent admission and keeps 25. A connection takes up to 110 KB: with 1,024 of them
 * a replica under several attacks used 440 MB. 16 addresses fit with their shares and room to spare; at 512 without any,
 * new connections of other addresses were closed.
 */
const CONNECTION_LIMIT = 576;

/** Above the 25 idle connections of an API server. An address over its share loses its own connections first. */
const ADDRESS_SHARE = 28;

type Stage = "unknown" | "known" | "requesting";
type Entry = {
  readonly socket: Closable;
  readonly address: string;
  underWay: number;
  isKnown: boolean;
  hasRequest: boolean;
  stage: Set<Entry> | undefined;
};

export function createConnectionLimit(
  onCut: () => void,
  limit: number = CONNECTION_LIMIT,
  addressShare: number = ADDRESS_SHARE,
): ConnectionLimit {
  const waiting = waitingConnections(addressShare);
  const busy = new Set<Entry>();
  return {
    add: (socket, address) => {
      const entry: Entry = { socket, address, underWay: 0, isKnown: false, hasRequest: false, stage: undefined };
      waiting.enter(entry);
      if (waiting.size() + busy.size > limit) {
        const victim = waiting.nextVictim(entry);
        waiting.take(victim);
        onCut();
        victim.socket.destroy();
      }
      return {
        requestStarted: () => {
          if (entry.stage === undefined) return;
          entry.hasRequest = true;
          waiting.restage(entry);
        },
        responseStarted: () => {
          entry.underWay += 1;
          if (entry.underWay > 1) return;
          waiting.take(entry);
          busy.add(entry);
        },
        answered: (isReview) => {
          entry.isKnown ||= isReview;
          entry.hasRequest = false;
          entry.underWay -= 1;
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
  readonly restage: (entry: Entry) => void;
  readonly size: () => number;
  readonly nextVictim: (newest: Entry) => Entry;
};

function waitingConnections(addressShare: number): WaitingConnections {
  const stages: Readonly<Record<Stage, Set<Entry>>> = { unknown: new Set(), known: new Set(), requesting: new Set() };
  const inOrder = [stages.unknown, stages.known, stages.requesting];
  const heldBy = new Map<string, number>();

  const count = (address: string, change: number): void => {
    const held = (heldBy.get(address) ?? 0) + change;
    if (held === 0) heldBy.delete(address);
    else heldBy.set(address, held);
  };
  const first = (stages: readonly Set<Entry>[], isEligible: (entry: Entry) => boolean): Entry | undefined => {
    for (const stage of stages) for (const entry of stage) if (isEligible(entry)) return entry;
    return undefined;
  };
  const largestAddress = (): string | undefined => {
    let most = addressShare;
    let found: string | undefined;
    for (const [address, held] of heldBy) {
      if (held <= most) continue;
      most = held;
      found = address;
    }
    return found;
  };

  const enterStage = (entry: Entry): void => {
    entry.stage = stages[stageOf(entry)];
    entry.stage.add(entry);
  };

  return {
    enter: (entry) => {
      enterStage(entry);
      count(entry.address, 1);
    },
    take: (entry) => {
      if (entry.stage === undefined) return;
      entry.stage.delete(entry);
      entry.stage = undefined;
      count(entry.address, -1);
    },
    restage: (entry) => {
      entry.stage?.delete(entry);
      enterStage(entry);
    },
    size: () => stages.unknown.size + stages.known.size + stages.requesting.size,
    // The newest is in the first stage too, but is closed only if no other can be.
    nextVictim: (newest) => {
      const address = largestAddress();
      const victim = first(
        inOrder,
        (entry) => entry !== newest && (address === undefined || entry.address === address),
      );
      return victim ?? newest;
    },
  };
}

function stageOf({ hasRequest, isKnown }: Entry): Stage {
  if (hasRequest) return "requesting";
  return isKnown ? "known" : "unknown";
}
