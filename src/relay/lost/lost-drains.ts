/**
 * Follows the Pods of drains whose stream was closed by the manager, until each is gone or its end proves that the drain
 * was lost. A missing report proves nothing: it may have reached another replica (decision 46).
 */
import type { AskApi } from "../../api-server/api-request.ts";
import type { RelayedPod } from "../../contract/relay-wire.ts";
import type { Clock } from "../slices/clock.ts";
import { podPath } from "../slices/pod-reader.ts";
import { type BrokenDrain, type EndReading, isLost, type ManagerEnd, readManagerEnd } from "./lost-drain.ts";

export type LostDrains = {
  /** A Pod has opened a stream: none that broke before was the end of its drain. */
  readonly opened: (pod: RelayedPod) => void;
  /** A stream has ended; without a drain where it did not end in the middle of one, or not by its client. */
  readonly closed: (pod: RelayedPod, drain: BrokenDrain | undefined) => void;
  readonly reported: (pod: RelayedPod) => void;
};

/** Where Pods cannot be read: nothing can be proved. */
export const NO_LOST_DRAINS: LostDrains = {
  opened: () => undefined,
  closed: () => undefined,
  reported: () => undefined,
};

type LostDrainsParts = {
  readonly ask: AskApi;
  readonly clock: Clock;
  /** Never throws. */
  readonly onLost: (drain: BrokenDrain, end: ManagerEnd) => void;
};

/** For a report on its way, or another stream. Both tries of a report take 4 s, and a dial 2 s. */
const GRACE_MS = 15_000;
/** An end is shown for a second or so, until the Pod is gone. */
const LOOK_MS = 500;
const READS_AT_ONCE = 25;
const ANSWER_LIMIT_MS = 2_000;
/** Beyond it the one read longest ago is given up. */
export const FOLLOWED_LIMIT = 1_000;
/** From the death of a manager the kubelet takes the grace period at most, and some time to clean up. */
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

export function createLostDrains({ ask, clock, onLost }: LostDrainsParts): LostDrains {
  const streams = new Map<string, number>();
  /** The one read longest ago comes first. */
  const followed = new Map<string, Followed>();
  let underWay = 0;
  let endLooks: (() => void) | undefined;

  const read = async (key: string, one: Followed): Promise<void> => {
    const { pod } = one.drain;
    const reading = await ask({ method: "GET", path: podPath(pod), limitMs: ANSWER_LIMIT_MS }).then(
      (answer) => readManagerEnd(answer, pod.uid),
      (): EndReading => ({ kind: "unreadable" }),
    );
    if (followed.get(key) !== one) return;
    if (reading.kind === "ended" && isLost(one.drain, reading.end)) one.end = reading.end;
    else if (reading.kind === "ended" || reading.kind === "gone") followed.delete(key);
  };

  const begin = (key: string, one: Followed): void => {
    followed.delete(key);
    followed.set(key, one);
    one.isBeingRead = true;
    underWay += 1;
    void read(key, one).finally(() => {
      one.isBeingRead = false;
      underWay -= 1;
    });
  };

  const decide = (key: string, { drain, sinceMs }: Followed, end: ManagerEnd, nowMs: number): void => {
    if (nowMs - sinceMs < GRACE_MS) return;
    followed.delete(key);
    onLost(drain, end);
  };

  const look = (): void => {
    const nowMs = clock.nowMs();
    for (const [key, one] of [...followed]) {
      if (one.end !== undefined) decide(key, one, one.end, nowMs);
      else if (nowMs >= one.untilMs) followed.delete(key);
      else if (!one.isBeingRead && underWay < READS_AT_ONCE) begin(key, one);
    }
    if (followed.size > 0) return;
    endLooks?.();
    endLooks = undefined;
  };

  const follow = (drain: BrokenDrain): void => {
    const sinceMs = clock.nowMs();
    const graceMs = (drain.graceSeconds || DEFAULT_GRACE_SECONDS) * 1_000;
    const untilMs = sinceMs + Math.min(LONGEST_MS, graceMs + CLEAN_UP_MS);
    followed.set(keyOf(drain.pod), { drain, sinceMs, untilMs, end: undefined, isBeingRead: false });
    const [oldest] = followed.keys();
    if (followed.size > FOLLOWED_LIMIT && oldest !== undefined) followed.delete(oldest);
    endLooks ??= clock.every(LOOK_MS, look);
  };

  return {
    opened: (pod) => {
      const key = keyOf(pod);
      followed.delete(key);
      streams.set(key, (streams.get(key) ?? 0) + 1);
    },
    closed: (pod, drain) => {
      const key = keyOf(pod);
      const others = (streams.get(key) ?? 0) - 1;
      if (others > 0) {
        streams.set(key, others);
        return;
      }
      streams.delete(key);
      if (drain !== undefined) follow(drain);
    },
    reported: (pod) => {
      followed.delete(keyOf(pod));
    },
  };
}

function keyOf({ namespace, uid }: RelayedPod): string {
  return `${namespace}/${uid}`;
}
