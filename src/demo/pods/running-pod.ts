/** One Pod from its first container to its last exit. The rules it follows are listed in `pod-runner.ts`. */
import { Fault } from "../../fault.ts";
import type { Clock } from "../clock.ts";
import type { PodAttachment } from "../network/pod-network.ts";
import { type CommandSurroundings, type ContainerRun, createContainerRun } from "./container-run.ts";
import { countedRestarts, type Restarts, restartDelayMs } from "./kubelet-rules.ts";
import { type HandlerPorts, runHook } from "./lifecycle-handler.ts";
import type { PodPlan } from "./pod-plan.ts";
import type { ProcessTable } from "./process-table.ts";
import { watchReadiness } from "./readiness.ts";
import { type StopNote, type StoppingContainer, terminate } from "./termination.ts";

export type PodEvent = {
  /** On the runner's clock. */
  readonly atMs: number;
  readonly container: string;
  readonly what: StopNote["what"] | "started" | "restarting" | "ready" | "unready" | "deleted" | "gone" | "line";
  readonly detail: string;
};

type RunningPodPorts = {
  readonly clock: Clock;
  readonly processes: ProcessTable;
  readonly attachment: PodAttachment;
  readonly kubeletAddress: string;
  readonly surroundings: CommandSurroundings;
  readonly onEvent: (event: PodEvent) => void;
};

export type RunningPod = {
  readonly plan: PodPlan;
  readonly address: string;
  readonly events: readonly PodEvent[];
  readonly isReady: () => boolean;
  readonly isRunning: (container: string) => boolean;
  readonly startContainers: () => Promise<void>;
  /**
   * Ends the Pod as an API deletion does. Resolves when the last process is gone; a second call joins the first, with
   * whatever grace period it asks for, as the kubelet does.
   */
  readonly remove: (graceSeconds?: number) => Promise<void>;
  /** What a failed liveness probe does: hook, stop and restart of this one container. */
  readonly restart: (container: string) => Promise<void>;
  /** Resolves when the Pod is over: deleted, or run to completion. */
  readonly gone: Promise<void>;
  readonly kill: () => Promise<void>;
};

export function createRunningPod(plan: PodPlan, ports: RunningPodPorts): RunningPod {
  const { clock, attachment } = ports;
  const events: PodEvent[] = [];
  const podGone = new AbortController();
  let tellGone = () => {};
  const gone = new Promise<void>((resolve) => {
    tellGone = resolve;
  });
  let ending: Promise<void> | undefined;
  // A deletion waits for a restart that is under way, as the kubelet's does.
  let stopForRestart: Promise<void> = Promise.resolve();
  const restarts = new Map<string, Restarts>();

  const note = (container: string, what: PodEvent["what"], detail = "") => {
    const event = { atMs: clock.nowMs(), container, what, detail };
    events.push(event);
    ports.onEvent(event);
  };
  const containers = plan.containers.map((container) =>
    createContainerRun(container, plan, {
      ...ports,
      onLine: (name, line) => note(name, "line", line),
      onExit: (name, status) => afterExit(name, status),
    }),
  );
  const readiness = watchReadiness(
    containers,
    (run) => handlerPorts(run),
    (ready) => note("", ready ? "ready" : "unready"),
  );

  function handlerPorts(run: ContainerRun): HandlerPorts {
    return {
      clock,
      podAddress: attachment.address,
      kubeletAddress: ports.kubeletAddress,
      exec: run.exec,
      podGone: podGone.signal,
    };
  }

  function stoppable(run: ContainerRun): StoppingContainer {
    const hook = run.plan.preStop;
    return {
      name: run.plan.name,
      sidecar: run.plan.role === "sidecar",
      isRunning: run.isRunning,
      signal: run.signal,
      exited: run.exited(),
      ...(hook === undefined ? {} : { runHook: () => runHook(hook, handlerPorts(run)) }),
    };
  }

  function stopContainers(which: readonly ContainerRun[], graceSeconds: number): Promise<void> {
    return terminate({
      containers: which.filter((run) => run.isRunning()).map(stoppable),
      graceSeconds,
      clock,
      note: ({ container, what, detail }) => note(container, what, detail),
    });
  }

  function start(run: ContainerRun): void {
    run.start();
    note(run.plan.name, "started");
  }

  function restartable(run: ContainerRun): boolean {
    return run.plan.role === "sidecar" || (run.plan.role === "regular" && plan.restarts);
  }

  function afterExit(name: string, status: number): void {
    if (ending !== undefined) return;
    const run = containers.find((candidate) => candidate.plan.name === name);
    if (run === undefined || run.plan.role === "init") return;
    note(name, "exited", `status ${status}`);
    if (restartable(run)) {
      const count = countedRestarts(restarts.get(name) ?? { count: 0, startedMs: clock.nowMs() }, clock.nowMs());
      const delayMs = restartDelayMs(count);
      note(name, "restarting", `in ${delayMs} ms`);
      void clock.wait(delayMs, podGone.signal).then(() => {
        if (ending !== undefined || run.isRunning()) return;
        restarts.set(name, { count: count + 1, startedMs: clock.nowMs() });
        start(run);
      });
    } else if (containers.every((other) => other.plan.role !== "regular" || !other.isRunning()))
      void end(plan.graceSeconds);
  }

  function end(graceSeconds: number): Promise<void> {
    ending ??= stopForRestart
      .then(() => stopContainers(containers, graceSeconds))
      .finally(() => {
        podGone.abort();
        readiness.stop();
        note("", "gone");
        tellGone();
      });
    return ending;
  }

  return {
    plan,
    address: attachment.address,
    events,
    isReady: readiness.isReady,
    isRunning: (name) => containers.some((run) => run.plan.name === name && run.isRunning()),
    startContainers: async () => {
      for (const run of containers) {
        start(run);
        if (run.plan.role === "init" && (await run.exited()) !== 0)
          throw new Fault("ERR_DEMO_FAILED", `init container ${run.plan.name} of Pod ${plan.name} failed`);
      }
      readiness.start();
    },
    remove: (graceSeconds = plan.graceSeconds) => {
      if (ending === undefined) note("", "deleted", `grace period ${graceSeconds} s`);
      return end(graceSeconds);
    },
    restart: async (name) => {
      const run = containers.find((candidate) => candidate.plan.name === name);
      if (run === undefined || ending !== undefined) return;
      stopForRestart = stopContainers([run], run.plan.terminationGraceSecondsOfLiveness ?? plan.graceSeconds);
      await stopForRestart;
    },
    gone,
    kill: async () => {
      podGone.abort();
      for (const run of containers) run.signal("SIGKILL");
      await end(0);
    },
  };
}
