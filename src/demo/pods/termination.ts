/**
 * How the kubelet ends the running containers of one Pod, with processes and time handed in.
 *
 * Every hook starts at once and in parallel, those of native sidecars too; only the stop signals are ordered: a sidecar
 * waits for all regular containers, then for the sidecars listed after it. Whatever is waited for is paid from the one
 * grace period, and when that is used up every container gets SIGTERM and, 2 s later, SIGKILL.
 */
import { Fault } from "../../fault.ts";
import { type Clock, waitAtMost } from "../clock.ts";
import { graceAfter, stopSeconds } from "./kubelet-rules.ts";

export type StoppingContainer = {
  readonly name: string;
  readonly sidecar: boolean;
  /** Rejects when the hook fails. Absent when the container has none. */
  readonly runHook?: () => Promise<void>;
  readonly isRunning: () => boolean;
  readonly signal: (signal: "SIGTERM" | "SIGKILL") => void;
  /** Resolves when the process is gone; never rejects. */
  readonly exited: Promise<unknown>;
};

export type StopNote = {
  readonly container: string;
  readonly what:
    | "hook-started"
    | "hook-ended"
    | "FailedPreStopHook"
    | "hook-overran"
    | "SIGTERM"
    | "SIGKILL"
    | "exited";
  readonly detail: string;
};

type Stopping = {
  /** Running containers only, in the order of the Pod: sidecars, then regular ones. The others get nothing. */
  readonly containers: readonly StoppingContainer[];
  readonly graceSeconds: number;
  readonly clock: Clock;
  readonly note: (note: StopNote) => void;
};

/** A process that survives SIGKILL this long is stuck in the kernel. */
const KILL_LIMIT_MS = 10_000;

/** Resolves when every container is gone: at the latest grace period + 2 s + 2 s after the call, as each wait is bounded. */
export async function terminate(stopping: Stopping): Promise<void> {
  await Promise.all(stopping.containers.map((container) => stopOne(container, stopping)));
}

async function stopOne(container: StoppingContainer, stopping: Stopping): Promise<void> {
  let remaining = stopping.graceSeconds;
  if (container.runHook !== undefined && remaining > 0) {
    const started = stopping.clock.nowMs();
    await hookOrGrace(container, container.runHook, stopping);
    remaining = graceAfter(remaining, stopping.clock.nowMs() - started);
  }
  if (container.sidecar) {
    const started = stopping.clock.nowMs();
    const before = Promise.all(mustEndBefore(container, stopping.containers).map((other) => other.exited));
    await waitAtMost(stopping.clock, Math.max(0, remaining) * 1_000, before);
    remaining = graceAfter(remaining, stopping.clock.nowMs() - started);
  }
  await signalAndWait(container, stopSeconds(remaining), stopping);
}

/** The hook is not cancelled when the grace period ends first; it fails by itself when its container is gone. */
async function hookOrGrace(
  container: StoppingContainer,
  runHook: () => Promise<void>,
  stopping: Stopping,
): Promise<void> {
  const note = (what: StopNote["what"], detail: string) => stopping.note({ container: container.name, what, detail });
  note("hook-started", "");
  const hook = runHook().then(
    () => note("hook-ended", ""),
    (error: unknown) => note("FailedPreStopHook", error instanceof Error ? error.message : String(error)),
  );
  if ((await waitAtMost(stopping.clock, stopping.graceSeconds * 1_000, hook)) === "late")
    note("hook-overran", `the grace period of ${stopping.graceSeconds} s ended first`);
}

function mustEndBefore(sidecar: StoppingContainer, all: readonly StoppingContainer[]): StoppingContainer[] {
  const place = all.indexOf(sidecar);
  return all.filter((other, index) => !other.sidecar || index > place);
}

async function signalAndWait(container: StoppingContainer, seconds: number, stopping: Stopping): Promise<void> {
  const note = (what: StopNote["what"], detail: string) => stopping.note({ container: container.name, what, detail });
  for (const [signal, limitMs] of [
    ["SIGTERM", seconds * 1_000],
    ["SIGKILL", KILL_LIMIT_MS],
  ] as const) {
    if (container.isRunning()) {
      note(signal, signal === "SIGTERM" ? `SIGKILL follows in ${seconds} s` : "");
      container.signal(signal);
    }
    if ((await waitAtMost(stopping.clock, limitMs, container.exited)) === "done") {
      note("exited", "");
      return;
    }
  }
  throw new Fault("ERR_DEMO_FAILED", `the process of container ${container.name} survives SIGKILL`);
}
