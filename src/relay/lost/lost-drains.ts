/**
 * Polls the Pods whose manager closed its stream during a drain, until the Pod is gone or the manager's exit proves the
 * drain lost. A missing report does not prove a loss: another replica may have the report (decision 46).
 */
import type { SendRequest } from "../../api-server/api-request.ts";
import type { RelayedPod } from "../../contract/relay-wire.ts";
import { createCounts } from "../collections.ts";
import { type Clock, createTicker } from "../slices/clock.ts";
import { readPod } from "../slices/pod-reader.ts";
import { type BrokenDrain, isLost, type ManagerEnd, readManagerEnd } from "./lost-drain.ts";

export type LostDrains = {
  readonly onStreamOpened: (pod: RelayedPod) => void;
  readonly onStreamClosed: (pod: RelayedPod, drain: BrokenDrain | undefined) => void;
  readonly onReport: (pod: RelayedPod) => void;
};

export const NO_LOST_DRAINS: LostDrains = {
  onStreamOpened: () => undefined,
  onStreamClosed: () => undefined,
  onReport: () => undefined,
};

type LostDrainsParts = {
  readonly request: SendRequest;
  readonly clock: Clock;
  readonly onLost: (drain: BrokenDrain, end: ManagerEnd) => void;
};

/** Wait for a late report or a new stream of the manager: two attempts to report take 4 s, and an attempt to connect 2 s. */
const LATE_REPORT_MS = 15_000;
/** The Pod's status shows the manager's exit for only about a second; then the kubelet deletes the Pod. */
const CHECK_MS = 500;
const CONCURRENT_READS_LIMIT = 25;
export const CANDIDATES_LIMIT = 1_000;
/** Added to the grace period, because the kubelet needs time to delete the Pod. */
const KUBELET_DELAY_MS = 30_000;
const DEFAULT_GRACE_SECONDS = 30;
const CANDIDATE_LIFE_LIMIT_MS = 600_000;

type Candidate = {
  readonly drain: BrokenDrain;
  readonly addedAtMs: number;
  readonly expiresAtMs: number;
  end: ManagerEnd | undefined;
  isBeingRead: boolean;
};

export function createLostDrains({ request, clock, onLost }: LostDrainsParts): LostDrains {
  const streamCounts = createCounts<string>();
  const candidates = new Map<string, Candidate>();
  let readsInProgress = 0;

  const readCandidate = async (key: string, candidate: Candidate): Promise<void> => {
    candidates.delete(key);
    candidates.set(key, candidate);
    candidate.isBeingRead = true;
    readsInProgress += 1;
    const reading = await readPod(request, candidate.drain.pod, readManagerEnd);
    candidate.isBeingRead = false;
    readsInProgress -= 1;
    if (candidates.get(key) !== candidate) return;
    if (reading.kind === "ended" && isLost(candidate.drain, reading.end)) candidate.end = reading.end;
    else if (reading.kind === "ended" || reading.kind === "gone") candidates.delete(key);
  };

  const reportIfDue = (key: string, { drain, addedAtMs }: Candidate, end: ManagerEnd, nowMs: number): void => {
    if (nowMs - addedAtMs >= LATE_REPORT_MS && candidates.delete(key)) onLost(drain, end);
  };

  const ticker = createTicker(clock, CHECK_MS, () => {
    const nowMs = clock.nowMs();
    for (const [key, candidate] of [...candidates]) {
      if (candidate.end !== undefined) reportIfDue(key, candidate, candidate.end, nowMs);
      else if (nowMs >= candidate.expiresAtMs) candidates.delete(key);
      else if (!candidate.isBeingRead && readsInProgress < CONCURRENT_READS_LIMIT) void readCandidate(key, candidate);
    }
    if (candidates.size === 0) ticker.stop();
  });

  const addCandidate = (key: string, drain: BrokenDrain): void => {
    const addedAtMs = clock.nowMs();
    const graceMs = (drain.graceSeconds || DEFAULT_GRACE_SECONDS) * 1_000;
    const expiresAtMs = addedAtMs + Math.min(CANDIDATE_LIFE_LIMIT_MS, graceMs + KUBELET_DELAY_MS);
    candidates.set(key, { drain, addedAtMs, expiresAtMs, end: undefined, isBeingRead: false });
    const [oldest] = candidates.keys();
    if (candidates.size > CANDIDATES_LIMIT && oldest !== undefined) candidates.delete(oldest);
    ticker.start();
  };

  return {
    onStreamOpened: (pod) => {
      const key = keyOf(pod);
      candidates.delete(key);
      streamCounts.add(key);
    },
    onStreamClosed: (pod, drain) => {
      const key = keyOf(pod);
      streamCounts.remove(key);
      if (drain !== undefined && streamCounts.get(key) === 0) addCandidate(key, drain);
    },
    onReport: (pod) => {
      candidates.delete(keyOf(pod));
    },
  };
}

const keyOf = ({ namespace, uid }: RelayedPod): string => `${namespace}/${uid}`;
