/**
 * Polls the Pods whose manager closed its stream during a drain, until the Pod is gone or the manager's exit proves the
 * drain lost. A missing report proves nothing: another replica may have it (decision 46).
 */
import type { SendRequest } from "../../api-server/api-request.ts";
import type { RelayedPod } from "../../contract/relay-wire.ts";
import { createCounts } from "../collections.ts";
import { type Clock, createTicker } from "../slices/clock.ts";
import { readPod } from "../slices/pod-reader.ts";
import { type BrokenDrain, isLost, type ManagerEnd, readManagerEnd } from "./lost-drain.ts";

export type LostDrains = {
  readonly opened: (pod: RelayedPod) => void;
  readonly closed: (pod: RelayedPod, drain: BrokenDrain | undefined) => void;
  readonly reported: (pod: RelayedPod) => void;
};

export const NO_LOST_DRAINS: LostDrains = {
  opened: () => undefined,
  closed: () => undefined,
  reported: () => undefined,
};

type LostDrainsParts = {
  readonly request: SendRequest;
  readonly clock: Clock;
  readonly onLost: (drain: BrokenDrain, end: ManagerEnd) => void;
};

/** For a late report or another stream: two attempts at a report take 4 s, and a dial 2 s. */
const GRACE_MS = 15_000;
/** The status shows the end for about a second, until the Pod is gone. */
const CHECK_MS = 500;
const READS_AT_ONCE = 25;
export const FOLLOWED_LIMIT = 1_000;
/** Added to the grace period, for the kubelet. */
const CLEAN_UP_MS = 30_000;
const DEFAULT_GRACE_SECONDS = 30;
const LONGEST_MS = 600_000;

type Followed = {
  readonly drain: BrokenDrain;
  readonly sinceMs: number;
  readonly untilMs: number;
  end: ManagerEnd | undefined;
  isBeingRead: boolean;
};

export function createLostDrains({ request, clock, onLost }: LostDrainsParts): LostDrains {
  const streams = createCounts<string>();
  const followed = new Map<string, Followed>();
  let underWay = 0;

  const read = async (key: string, one: Followed): Promise<void> => {
    followed.delete(key);
    followed.set(key, one);
    one.isBeingRead = true;
    underWay += 1;
    const reading = await readPod(request, one.drain.pod, readManagerEnd);
    one.isBeingRead = false;
    underWay -= 1;
    if (followed.get(key) !== one) return;
    if (reading.kind === "ended" && isLost(one.drain, reading.end)) one.end = reading.end;
    else if (reading.kind === "ended" || reading.kind === "gone") followed.delete(key);
  };

  const decide = (key: string, { drain, sinceMs }: Followed, end: ManagerEnd, nowMs: number): void => {
    if (nowMs - sinceMs >= GRACE_MS && followed.delete(key)) onLost(drain, end);
  };

  const ticker = createTicker(clock, CHECK_MS, () => {
    const nowMs = clock.nowMs();
    for (const [key, one] of [...followed]) {
      if (one.end !== undefined) decide(key, one, one.end, nowMs);
      else if (nowMs >= one.untilMs) followed.delete(key);
      else if (!one.isBeingRead && underWay < READS_AT_ONCE) void read(key, one);
    }
    if (followed.size === 0) ticker.stop();
  });

  const follow = (key: string, drain: BrokenDrain): void => {
    const sinceMs = clock.nowMs();
    const graceMs = (drain.graceSeconds || DEFAULT_GRACE_SECONDS) * 1_000;
    const untilMs = sinceMs + Math.min(LONGEST_MS, graceMs + CLEAN_UP_MS);
    followed.set(key, { drain, sinceMs, untilMs, end: undefined, isBeingRead: false });
    const [oldest] = followed.keys();
    if (followed.size > FOLLOWED_LIMIT && oldest !== undefined) followed.delete(oldest);
    ticker.start();
  };

  return {
    opened: (pod) => {
      const key = keyOf(pod);
      followed.delete(key);
      streams.add(key);
    },
    closed: (pod, drain) => {
      const key = keyOf(pod);
      streams.remove(key);
      if (drain !== undefined && streams.of(key) === 0) follow(key, drain);
    },
    reported: (pod) => {
      followed.delete(keyOf(pod));
    },
  };
}

const keyOf = ({ namespace, uid }: RelayedPod): string => `${namespace}/${uid}`;
