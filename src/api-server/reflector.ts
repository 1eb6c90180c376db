/**
 * Keeps a store in step with the API server: list, watch, relist on a timer. The informer of the client package is not
 * used: it gives up at its first failed list, skips lines it cannot parse, and never relists.
 */
import { ApiRefusal, type OpenStream, type SendRequest } from "./api-request.ts";
import { type Listed, listAll } from "./list-pages.ts";
import { retryDelayMs } from "./retry-delay.ts";
import type { Store } from "./store.ts";
import { lineSplitter, readWatchEvent, versionOf } from "./watch-event.ts";

export type Reflected<T> = {
  readonly path: string;
  readonly fieldSelector?: string;
  readonly pageSize: number;
  readonly store: Store<T>;
  readonly relistMs: number;
  /**
   * Longest duration of one watch; default: until the next list. A short watch detects a lost server early, because the
   * next one is not accepted.
   */
  readonly watchMs?: number;
  /**
   * Silence after which everything is listed, read after each watch; default: no limit, because a server sends no bookmark
   * while no object of the kind changes anywhere.
   */
  readonly silenceMs?: () => number;
  /** Longest pause after a failure; a longer `Retry-After` still holds. */
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
  readonly onFailed: (why: string) => void;
};

/** A shorter watch without an event counts as failed, or a server that closes at once would be retried without a pause. */
const SHORT_WATCH_MS = 5_000;

/** Time by which the server may exceed `timeoutSeconds` before the watch is aborted. */
const OVERRUN_MS = 5_000;

const GONE = 410;

/** `lastEventMs`: time of the last list, event or bookmark. */
type Place = { version: string; listDueMs: number; lastEventMs: number };

export async function runReflector<T>(
  followed: Reflected<T>,
  ports: ReflectorPorts,
  signal: AbortSignal,
): Promise<void> {
  let place: Place | undefined;
  let failures = 0;
  while (!signal.aborted) {
    const end = await listAndWatch(place, followed, { ports, signal });
    place = end.place;
    failures = end.lived ? 0 : failures + 1;
    if (end.failure !== undefined && !signal.aborted) ports.onFailed(end.failure);
    if (failures === 0) continue;
    const pauseMs = Math.min(retryDelayMs(failures, ports.random()), followed.retryLimitMs ?? Number.POSITIVE_INFINITY);
    await ports.sleep(Math.max(pauseMs, end.retryAfterMs ?? 0), signal);
  }
}

type RoundEnd = {
  /** `undefined` when a list has to follow. */
  readonly place: Place | undefined;
  readonly lived: boolean;
  readonly failure?: string;
  readonly retryAfterMs?: number;
};

type Round = { readonly ports: ReflectorPorts; readonly signal: AbortSignal };

async function listAndWatch<T>(
  known: Place | undefined,
  followed: Reflected<T>,
  surroundings: Round,
): Promise<RoundEnd> {
  let place = known;
  try {
    if (place === undefined || surroundings.ports.nowMs() >= place.listDueMs)
      place = await listInto(followed, surroundings);
    return { place, lived: await watchFrom(place, followed, surroundings) };
  } catch (error) {
    if (error instanceof ExpiredWatch || (error instanceof ApiRefusal && error.status === GONE))
      return { place: undefined, lived: false };
    const failure = error instanceof Error ? error.message : String(error);
    const askedPauseMs = error instanceof ApiRefusal ? error.retryAfterMs : 0;
    return {
      place: error instanceof BrokenWatch ? undefined : place,
      lived: false,
      failure,
      retryAfterMs: askedPauseMs,
    };
  }
}

async function listInto<T>(followed: Reflected<T>, { ports, signal }: Round): Promise<Place> {
  const { path, fieldSelector, pageSize, store, relistMs } = followed;
  const { keep, newEntries } = store;
  const listed: Listed<T> = await listAll(ports.request, { path, fieldSelector, pageSize, keep, newEntries, signal });
  store.replace(listed.objects);
  ports.onListed();
  // Jitter spreads the lists of caches and replicas that started together.
  const lastEventMs = ports.nowMs();
  return { version: listed.version, listDueMs: lastEventMs + relistMs * (0.8 + 0.2 * ports.random()), lastEventMs };
}

/**
 * Advances `place` with every event. An incomplete line does not advance it, so the next watch repeats that event.
 *
 * @returns false when the watch was too short to count as a success
 */
async function watchFrom<T>(place: Place, followed: Reflected<T>, { ports, signal }: Round): Promise<boolean> {
  const startMs = ports.nowMs();
  const { watchMs = Number.POSITIVE_INFINITY } = followed;
  const leftMs = Math.max(1_000, Math.min(watchMs, place.listDueMs - startMs));
  const query = new URLSearchParams({
    watch: "true",
    allowWatchBookmarks: "true",
    resourceVersion: place.version,
    timeoutSeconds: String(Math.ceil(leftMs / 1_000)),
    ...(followed.fieldSelector === undefined ? {} : { fieldSelector: followed.fieldSelector }),
  });
  const completeLines = lineSplitter();
  let events = 0;
  const onChunk = (chunk: Buffer): void => {
    for (const line of completeLines(chunk)) {
      applyLine(line, place, followed.store);
      events += 1;
      place.lastEventMs = ports.nowMs();
      ports.onResponse();
    }
  };
  const limitMs = leftMs + Math.min(OVERRUN_MS, watchMs / 2);
  await ports.stream({ path: `${followed.path}?${query}`, limitMs, signal, onOpen: ports.onResponse, onChunk });
  const endMs = ports.nowMs();
  if (followed.silenceMs !== undefined && endMs - place.lastEventMs >= followed.silenceMs()) place.listDueMs = endMs;
  // The server's timer may be slightly ahead.
  return events > 0 || endMs - startMs >= Math.min(SHORT_WATCH_MS, 0.9 * watchMs);
}

function applyLine<T>(line: string, place: Place, store: Store<T>): void {
  const event = readWatchEvent(line);
  if (event.kind === "expired") throw new ExpiredWatch();
  if (event.kind === "broken") throw new BrokenWatch(event.why);
  if (event.kind === "put") store.put(event.object);
  if (event.kind === "gone") store.remove(event.object);
  place.version = versionOf(event.object) ?? place.version;
}

class ExpiredWatch extends Error {}

/** An event may be lost. */
class BrokenWatch extends Error {}
