/**
 * Limits the number of connections: a new connection above the limit closes another. If an address has more than
 * `CONNECTION_SHARE_PER_ADDRESS`, a connection of the address with the most connections is closed. Connections without a completed
 * review are closed first, connections that receive a request last. Connections whose review is in progress are never closed. Pure.
 */

type Closable = { readonly destroy: () => void };

export type Connection = {
  readonly requestStarted: () => void;
  /** The request is in progress until {@link Connection.responseFinished}. */
  readonly responseStarted: () => void;
  readonly responseFinished: (isSuccess: boolean) => void;
  readonly closed: () => void;
  /** Whether a review of this connection got a response with status 200. */
  readonly isKnown: () => boolean;
};

export type ConnectionLimit = {
  /** Above the limit, closes another connection, or the new one if all others have a review in progress. */
  readonly add: (socket: Closable, address: string) => Connection;
  readonly connectionCount: () => number;
};

/**
 * A connection takes up to 110 KB: with a limit of 1,024 a replica under several attacks used 440 MB. 16 addresses with full
 * shares need 448 connections. At a limit of 512, new connections of further addresses were closed in a test.
 */
const CONNECTION_LIMIT = 576;

/** More than the 25 idle connections of an API server. Connections of an address above its share are closed first. */
const CONNECTION_SHARE_PER_ADDRESS = 28;

type Stage = "unknown" | "known" | "requesting";
type Entry = {
  readonly socket: Closable;
  readonly address: string;
  openReviews: number;
  isKnown: boolean;
  isReceivingRequest: boolean;
  stage: Set<Entry> | undefined;
};

export function createConnectionLimit(
  onEvict: () => void,
  limit: number = CONNECTION_LIMIT,
  connectionSharePerAddress: number = CONNECTION_SHARE_PER_ADDRESS,
): ConnectionLimit {
  const waiting = createWaitingConnections(connectionSharePerAddress);
  const busy = new Set<Entry>();
  return {
    add: (socket, address) => {
      const entry: Entry = {
        socket,
        address,
        openReviews: 0,
        isKnown: false,
        isReceivingRequest: false,
        stage: undefined,
      };
      waiting.add(entry);
      if (waiting.size() + busy.size > limit) {
        const evictedEntry = waiting.nextToEvict(entry);
        waiting.remove(evictedEntry);
        onEvict();
        evictedEntry.socket.destroy();
      }
      return {
        requestStarted: () => {
          if (entry.stage === undefined) return;
          entry.isReceivingRequest = true;
          waiting.updateStage(entry);
        },
        responseStarted: () => {
          entry.openReviews += 1;
          if (entry.openReviews > 1) return;
          waiting.remove(entry);
          busy.add(entry);
        },
        responseFinished: (isSuccess) => {
          entry.isKnown ||= isSuccess;
          entry.isReceivingRequest = false;
          entry.openReviews -= 1;
          if (entry.openReviews === 0 && busy.delete(entry)) waiting.add(entry);
        },
        closed: () => {
          busy.delete(entry);
          waiting.remove(entry);
        },
        isKnown: () => entry.isKnown,
      };
    },
    connectionCount: () => waiting.size() + busy.size,
  };
}

type WaitingConnections = {
  readonly add: (entry: Entry) => void;
  readonly remove: (entry: Entry) => void;
  readonly updateStage: (entry: Entry) => void;
  readonly size: () => number;
  readonly nextToEvict: (newest: Entry) => Entry;
};

function createWaitingConnections(connectionSharePerAddress: number): WaitingConnections {
  const stages: Readonly<Record<Stage, Set<Entry>>> = { unknown: new Set(), known: new Set(), requesting: new Set() };
  const evictionOrder = [stages.unknown, stages.known, stages.requesting];
  const connectionsByAddress = new Map<string, number>();

  const changeCount = (address: string, change: number): void => {
    const connections = (connectionsByAddress.get(address) ?? 0) + change;
    if (connections === 0) connectionsByAddress.delete(address);
    else connectionsByAddress.set(address, connections);
  };
  const findFirst = (stages: readonly Set<Entry>[], isEligible: (entry: Entry) => boolean): Entry | undefined => {
    for (const stage of stages) for (const entry of stage) if (isEligible(entry)) return entry;
    return undefined;
  };
  const findLargestAddress = (): string | undefined => {
    let largestCount = connectionSharePerAddress;
    let largestAddress: string | undefined;
    for (const [address, connections] of connectionsByAddress) {
      if (connections <= largestCount) continue;
      largestCount = connections;
      largestAddress = address;
    }
    return largestAddress;
  };

  const addToStage = (entry: Entry): void => {
    entry.stage = stages[stageOf(entry)];
    entry.stage.add(entry);
  };

  return {
    add: (entry) => {
      addToStage(entry);
      changeCount(entry.address, 1);
    },
    remove: (entry) => {
      if (entry.stage === undefined) return;
      entry.stage.delete(entry);
      entry.stage = undefined;
      changeCount(entry.address, -1);
    },
    updateStage: (entry) => {
      entry.stage?.delete(entry);
      addToStage(entry);
    },
    size: () => stages.unknown.size + stages.known.size + stages.requesting.size,
    // The newest connection is in the stage that is evicted first, but is closed only if no other connection can be closed.
    nextToEvict: (newest) => {
      const address = findLargestAddress();
      const evictedEntry = findFirst(
        evictionOrder,
        (entry) => entry !== newest && (address === undefined || entry.address === address),
      );
      return evictedEntry ?? newest;
    },
  };
}

function stageOf({ isReceivingRequest, isKnown }: Entry): Stage {
  if (isReceivingRequest) return "requesting";
  return isKnown ? "known" : "unknown";
}
