/**
 * Keeps a store like the API server's own: list, watch, and list again on a timer. The informer of the client package
 * is not used: it gives up at its first failed list, passes over lines it cannot read, and never lists again.
 */
import { ApiRefusal, type AskApi, type StreamApi } from "./api-request.ts";
import { type Listed, listAll } from "./list-pages.ts";
import { retryDelayMs } from "./retry-delay.ts";
import type { Store } from "./store.ts";
import { lineSplitter, readWatchEvent, versionOf } from "./watch-event.ts";

export type Followed<T> = {
  readonly path: string;
  /** Which objects, by their fields; without it all. */
  readonly fieldSelector?: string;
  readonly pageSize: number;
  readonly store: Store<T>;
  /** From one list to the next, in milliseconds. */
  readonly relistMs: number;
  /**
   * Longest life of one watch, in milliseconds; without it a watch lives until the next list. A short one notices soon
   * when the server is gone: the next is not accepted.
   */
  readonly watchMs?: number;
  /**
   * How long watches may say nothing before everything is listed, in milliseconds; asked after each watch. Without it
   * silence is trusted: a server has no bookmark to send while no object of the kind changes anywhere.
   */
  readonly silenceMs?: () => number;
  /** Longest pause after a failure that did not ask for a longer one, in milliseconds. */
  readonly retryLimitMs?: number;
};

export type FollowPorts = {
  readonly ask: AskApi;
  readonly stream: StreamApi;
  readonly nowMs: () => number;
  /** Ends early, and without rejecting, when the signal is given. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly onListed: () => void;
  /** An event, a bookmark, or a watch that was accepted. */
  readonly onHeard: () => void;
  readonly onFailed: (why: string) => void;
};

/** A watch that ends sooner without a word counts as failed, or a server that closes at once would be asked without pause. */
const SHORT_WATCH_MS = 5_000;

/** What the server may overrun the time it was given before the watch is cut here. */
const OVERRUN_MS = 5_000;

const GONE = 410;

/** `saidMs`: when the last list, event or bookmark came. */
type Place = { version: string; listDueMs: number; saidMs: number };

/** Ends only by the signal. */
export async function follow<T>(followed: Followed<T>, ports: FollowPorts, signal: AbortSignal): Promise<void> {
  let place: Place | undefined;
  let failures = 0;
  while (!signal.aborted) {
    const end = await listAndWatch(place, followed, { ports, signal });
    place = end.place;
    failures = end.lived ? 0 : failures + 1;
    if (end.failure !== undefined && !signal.aborted) ports.onFailed(end.failure);
    if (failures === 0) continue;
    const pauseMs = Math.min(retryDelayMs(failures, ports.random()), followed.retryLimitMs ?? Number.POSITIVE_INFINITY);
    await ports.sleep(Math.max(pauseMs, end.askedPauseMs ?? 0), signal);
  }
}

type RoundEnd = {
  /** Where to go on; `undefined` when only a list helps. */
  readonly place: Place | undefined;
  readonly lived: boolean;
  readonly failure?: string;
  /** How long the server asked to be left alone. */
  readonly askedPauseMs?: number;
};

type Surroundings = { readonly ports: FollowPorts; readonly signal: AbortSignal };

async function listAndWatch<T>(
  known: Place | undefined,
  followed: Followed<T>,
  surroundings: Surroundings,
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
    return { place: error instanceof BrokenWatch ? undefined : place, lived: false, failure, askedPauseMs };
  }
}

async function listInto<T>(followed: Followed<T>, { ports, signal }: Surroundings): Promise<Place> {
  const { path, fieldSelector, pageSize, store, relistMs } = followed;
  const { keep, newEntries } = store;
  const listed: Listed<T> = await listAll(ports.ask, { path, fieldSelector, pageSize, keep, newEntries, signal });
  store.replace(listed.objects);
  ports.onListed();
  // Somewhat sooner, at random: caches and replicas that started together drift apart.
  const saidMs = ports.nowMs();
  return { version: listed.version, listDueMs: saidMs + relistMs * (0.8 + 0.2 * ports.random()), saidMs };
}

/**
 * Moves `place` along with every event. A line that was begun and not ended did not move it, so the next watch brings
 * that event again.
 *
 * @returns whether the watch lived long enough to be no failure
 */
async function watchFrom<T>(place: Place, followed: Followed<T>, { ports, signal }: Surroundings): Promise<boolean> {
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
      place.saidMs = ports.nowMs();
      ports.onHeard();
    }
  };
  const limitMs = leftMs + Math.min(OVERRUN_MS, watchMs / 2);
  await ports.stream({ path: `${followed.path}?${query}`, limitMs, signal, onOpen: ports.onHeard, onChunk });
  const endMs = ports.nowMs();
  if (followed.silenceMs !== undefined && endMs - place.saidMs >= followed.silenceMs()) place.listDueMs = endMs;
  // The server's timer may be a little ahead of ours.
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

/** What was said cannot be understood; an event may be lost. */
class BrokenWatch extends Error {}
