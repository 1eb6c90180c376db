/**
 * Synchronizes a store with the API server: lists, watches, and lists again on a timer. The informer of
 * `@kubernetes/client-node` is not used: it stops after a failed list, skips invalid lines, and never lists again.
 */
import { ApiStatusError, type OpenStream, type SendRequest } from "./api-request.ts";
import { type ListResult, listAll } from "./list-pages.ts";
import { retryDelayMs } from "./retry-delay.ts";
import type { Store } from "./store.ts";
import { createLineSplitter, readWatchEvent, resourceVersionOf } from "./watch-event.ts";

export type ReflectedResource<T> = {
  readonly path: string;
  readonly fieldSelector?: string;
  readonly pageSize: number;
  readonly store: Store<T>;
  readonly relistMs: number;
  /**
   * Longest duration of one watch; default: until the next list. A short watch detects a lost server early, because
   * the next watch is not accepted.
   */
  readonly watchMs?: number;
  /**
   * Time without an event or bookmark after which all objects are listed again; called after each watch. Default: no limit,
   * because a server does not send bookmarks while no object of the kind changes in the cluster.
   */
  readonly silenceLimitMs?: () => number;
  /** Longest pause after a failure; a longer `Retry-After` still applies. */
  readonly retryLimitMs?: number;
};

export type ReflectorPorts = {
  readonly request: SendRequest;
  readonly stream: OpenStream;
  readonly nowMs: () => number;
  /** Resolves early on abort, never rejects. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly onListed: () => void;
  readonly onResponse: () => void;
  readonly onFailed: (reason: string) => void;
};

/** A shorter watch without an event counts as failed. Otherwise, if a server closes every watch at once, retries would not pause. */
const MIN_WATCH_MS = 5_000;

/** Time by which the server may exceed `timeoutSeconds` before the watch is aborted. */
const WATCH_OVERRUN_MS = 5_000;

const STATUS_GONE = 410;

/** `lastEventMs`: time of the last list, event or bookmark. */
type WatchPosition = { resourceVersion: string; listDueMs: number; lastEventMs: number };

export async function runReflector<T>(
  resource: ReflectedResource<T>,
  ports: ReflectorPorts,
  signal: AbortSignal,
): Promise<void> {
  let position: WatchPosition | undefined;
  let failureCount = 0;
  while (!signal.aborted) {
    const result = await listAndWatch(position, resource, { ports, signal });
    position = result.position;
    failureCount = result.hasSucceeded ? 0 : failureCount + 1;
    if (result.failure !== undefined && !signal.aborted) ports.onFailed(result.failure);
    if (failureCount === 0) continue;
    const pauseMs = Math.min(
      retryDelayMs(failureCount, ports.random()),
      resource.retryLimitMs ?? Number.POSITIVE_INFINITY,
    );
    await ports.sleep(Math.max(pauseMs, result.retryAfterMs ?? 0), signal);
  }
}

type RoundResult = {
  /** `undefined` if the next round must list all objects. */
  readonly position: WatchPosition | undefined;
  readonly hasSucceeded: boolean;
  readonly failure?: string;
  readonly retryAfterMs?: number;
};

type RoundContext = { readonly ports: ReflectorPorts; readonly signal: AbortSignal };

async function listAndWatch<T>(
  startPosition: WatchPosition | undefined,
  resource: ReflectedResource<T>,
  context: RoundContext,
): Promise<RoundResult> {
  let position = startPosition;
  try {
    if (position === undefined || context.ports.nowMs() >= position.listDueMs)
      position = await listIntoStore(resource, context);
    return { position, hasSucceeded: await watchFrom(position, resource, context) };
  } catch (error) {
    if (error instanceof ExpiredWatch || (error instanceof ApiStatusError && error.status === STATUS_GONE))
      return { position: undefined, hasSucceeded: false };
    const failure = error instanceof Error ? error.message : String(error);
    const requestedDelayMs = error instanceof ApiStatusError ? error.retryAfterMs : 0;
    return {
      position: error instanceof BrokenWatch ? undefined : position,
      hasSucceeded: false,
      failure,
      retryAfterMs: requestedDelayMs,
    };
  }
}

async function listIntoStore<T>(
  resource: ReflectedResource<T>,
  { ports, signal }: RoundContext,
): Promise<WatchPosition> {
  const { path, fieldSelector, pageSize, store, relistMs } = resource;
  const { reduce, newEntries } = store;
  const list: ListResult<T> = await listAll(ports.request, {
    path,
    fieldSelector,
    pageSize,
    reduce,
    newEntries,
    signal,
  });
  store.replace(list.objects);
  ports.onListed();
  // Jitter spreads the lists of caches and replicas that started together.
  const lastEventMs = ports.nowMs();
  return {
    resourceVersion: list.resourceVersion,
    listDueMs: lastEventMs + relistMs * (0.8 + 0.2 * ports.random()),
    lastEventMs,
  };
}

/**
 * Advances `position` with every event. An incomplete line does not advance `position`, so the next watch repeats that event.
 *
 * @returns false when the watch was too short to count as a success
 */
async function watchFrom<T>(
  position: WatchPosition,
  resource: ReflectedResource<T>,
  { ports, signal }: RoundContext,
): Promise<boolean> {
  const startMs = ports.nowMs();
  const { watchMs = Number.POSITIVE_INFINITY } = resource;
  const watchDurationMs = Math.max(1_000, Math.min(watchMs, position.listDueMs - startMs));
  const query = new URLSearchParams({
    watch: "true",
    allowWatchBookmarks: "true",
    resourceVersion: position.resourceVersion,
    timeoutSeconds: String(Math.ceil(watchDurationMs / 1_000)),
    ...(resource.fieldSelector === undefined ? {} : { fieldSelector: resource.fieldSelector }),
  });
  const splitLines = createLineSplitter();
  let eventCount = 0;
  const onChunk = (chunk: Buffer): void => {
    for (const line of splitLines(chunk)) {
      applyLine(line, position, resource.store);
      eventCount += 1;
      position.lastEventMs = ports.nowMs();
      ports.onResponse();
    }
  };
  const limitMs = watchDurationMs + Math.min(WATCH_OVERRUN_MS, watchMs / 2);
  await ports.stream({ path: `${resource.path}?${query}`, limitMs, signal, onOpen: ports.onResponse, onChunk });
  const endMs = ports.nowMs();
  if (resource.silenceLimitMs !== undefined && endMs - position.lastEventMs >= resource.silenceLimitMs())
    position.listDueMs = endMs;
  // The server's timer may run slightly faster than this clock, so a watch may end a little early.
  return eventCount > 0 || endMs - startMs >= Math.min(MIN_WATCH_MS, 0.9 * watchMs);
}

function applyLine<T>(line: string, position: WatchPosition, store: Store<T>): void {
  const event = readWatchEvent(line);
  if (event.kind === "expired") throw new ExpiredWatch();
  if (event.kind === "broken") throw new BrokenWatch(event.reason);
  if (event.kind === "put") store.put(event.object);
  if (event.kind === "deleted") store.remove(event.object);
  position.resourceVersion = resourceVersionOf(event.object) ?? position.resourceVersion;
}

class ExpiredWatch extends Error {}

/** An event may be lost, so the next round must list all objects. */
class BrokenWatch extends Error {}
