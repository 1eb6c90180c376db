/**
 * Limits the number of connections by closing one above the limit. If addresses exceed their share, the connection is of the
 * address with the most connections. Connections without a completed review are closed first, connections that receive a request
 * last. Connections whose review is in progress are never closed. Pure.
 */

type Closable = { readonly destroy: () => void };

export type Connection = {
  readonly requestStarted: () => void;
  /** The request is in progress until {@link Connection.answered}. */
  readonly responseStarted: () => void;
  readonly answered: (isReview: boolean) => void;
  readonly closed: () => void;
  /** Whether a review of this connection got a response with status 200. */
  readonly isKnown: () => boolean;
};

export type ConnectionLimit = {
  /** Above the limit, closes another connection, or the new one if all others have a review in progress. */
  readonly add: (socket: Closable, address: string) => Connection;
  readonly open: () => number;
};

/**
 * A connection takes up to 110 KB: with a limit of 1,024 a replica under several attacks used 440 MB. 16 addresses with full
 * shares need 448 connections. At a limit of 512, new connections of further addresses were closed in a test.
 */
const CONNECTION_LIMIT = 576;

/** More than the 25 idle connections of an API server. Above its share, an address loses its own connections first. */
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
    // The newest connection is in the first stage too, but is closed only if no other can be closed.
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
