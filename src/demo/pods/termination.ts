/**
 * Stops the running containers of one Pod as the kubelet does.
 *
 * All hooks start at once, including those of native sidecars; only the stop signals are ordered: a sidecar waits for all
 * regular containers, then for the sidecars listed after it. All waits share one grace period; when it has passed, each
 * container gets its stop signal and, 2 s later, SIGKILL.
 */
import { Fault } from "../../fault.ts";
import { type Clock, waitAtMost } from "../clock.ts";
import { remainingGraceSeconds, stopSeconds } from "./kubelet-rules.ts";

export type StoppingContainer = {
  readonly name: string;
  readonly isSidecar: boolean;
  readonly runHook?: () => Promise<void>;
  readonly isRunning: () => boolean;
  readonly signal: (signal: "SIGTERM" | "SIGKILL") => void;
  /** Resolves when the process has exited; never rejects. */
  readonly exited: Promise<unknown>;
};

export type TerminationEvent = {
  readonly container: string;
  readonly type:
    | "hook-started"
    | "hook-ended"
    | "FailedPreStopHook"
    | "hook-overran"
    | "SIGTERM"
    | "SIGKILL"
    | "exited";
  readonly detail: string;
};

type TerminationOptions = {
  /** Running containers only, in Pod order: sidecars, then regular containers. */
  readonly containers: readonly StoppingContainer[];
  readonly graceSeconds: number;
  readonly clock: Clock;
  readonly recordEvent: (event: TerminationEvent) => void;
};

/** A process that survives SIGKILL this long is stuck in the kernel. */
const KILL_LIMIT_MS = 10_000;

/**
 * Resolves when all containers have exited, at the latest 4 s after the grace period: a container has at least 2 s between stop
 * signal and SIGKILL, and the rounding to whole seconds may add 2 s.
 */
export async function terminate(options: TerminationOptions): Promise<void> {
  await Promise.all(options.containers.map((container) => stopContainer(container, options)));
}

async function stopContainer(
  container: StoppingContainer,
  { containers, graceSeconds, clock, recordEvent }: TerminationOptions,
) {
  const { name, runHook, isSidecar, exited } = container;
  const record = (type: TerminationEvent["type"], detail = "") => recordEvent({ container: name, type, detail });
  let remainingSeconds = graceSeconds;
  const waitWithinGrace = async (work: Promise<unknown>): Promise<"done" | "late"> => {
    const startedMs = clock.nowMs();
    const result = await waitAtMost(clock, Math.max(0, remainingSeconds) * 1_000, work);
    remainingSeconds = remainingGraceSeconds(remainingSeconds, clock.nowMs() - startedMs);
    return result;
  };

  if (runHook !== undefined && remainingSeconds > 0) {
    record("hook-started");
    // A late hook is not cancelled; it fails when its container exits.
    const hook = runHook().then(
      () => record("hook-ended"),
      (error: unknown) => record("FailedPreStopHook", error instanceof Error ? error.message : String(error)),
    );
    if ((await waitWithinGrace(hook)) === "late")
      record("hook-overran", `outlasted the grace period of ${graceSeconds} s`);
  }
  if (isSidecar) {
    const position = containers.indexOf(container);
    const predecessors = containers.filter((other, index) => !other.isSidecar || index > position);
    await waitWithinGrace(Promise.all(predecessors.map((other) => other.exited)));
  }
  const killSeconds = stopSeconds(remainingSeconds);
  for (const [signal, limitMs, detail] of [
    ["SIGTERM", killSeconds * 1_000, `SIGKILL follows in ${killSeconds} s`],
    ["SIGKILL", KILL_LIMIT_MS, ""],
  ] as const) {
    if (container.isRunning()) {
      record(signal, detail);
      container.signal(signal);
    }
    if ((await waitAtMost(clock, limitMs, exited)) === "done") return record("exited");
  }
  throw new Fault("ERR_DEMO_FAILED", `container ${name} is still running ${KILL_LIMIT_MS / 1_000} s after SIGKILL`);
}
