/** Runs one Pod by the rules listed in `pod-runner.ts`. */
import { Fault } from "../../fault.ts";
import type { Clock } from "../clock.ts";
import type { PodAttachment, PodNetwork } from "../network/pod-network.ts";
import { type ContainerPorts, type ContainerRun, createContainerRun } from "./container-run.ts";
import { countedRestarts, type Restarts, restartDelayMs } from "./kubelet-rules.ts";
import { type HandlerActions, runHook, watchReadiness } from "./lifecycle-handler.ts";
import type { PodPlan } from "./pod-plan.ts";
import { type TerminationEvent, terminate } from "./termination.ts";

export type PodEvent = {
  readonly atMs: number;
  /** Empty for events of the Pod. */
  readonly container: string;
  readonly type:
    | TerminationEvent["type"]
    | "started"
    | "restarting"
    | "ready"
    | "unready"
    | "deleted"
    | "gone"
    | "line";
  readonly detail: string;
};

export type RunningPodPorts = Omit<ContainerPorts, "attachment" | "onLine" | "onExit"> & {
  readonly clock: Clock;
  readonly network: Pick<PodNetwork, "kubeletAddress">;
};

export type RunningPod = {
  readonly plan: PodPlan;
  readonly address: string;
  readonly events: readonly PodEvent[];
  readonly isReady: () => boolean;
  readonly isRunning: (container: string) => boolean;
  readonly startContainers: () => Promise<void>;
  /**
   * Deletes the Pod. Resolves when its last process has exited. A second call waits for the first; like the kubelet, it ignores
   * the grace period of the second call.
   */
  readonly remove: (graceSeconds?: number) => Promise<void>;
  readonly restart: (container: string) => Promise<void>;
  readonly whenGone: Promise<void>;
  readonly kill: () => Promise<void>;
};

export function createRunningPod(
  plan: PodPlan,
  attachment: PodAttachment,
  ports: RunningPodPorts,
  onEvent: (event: PodEvent) => void,
): RunningPod {
  const { clock } = ports;
  const events: PodEvent[] = [];
  const podGoneController = new AbortController();
  const goneResult = Promise.withResolvers<void>();
  let termination: Promise<void> | undefined;
  // A deletion waits for a pending restart, as in the kubelet.
  let stopForRestart: Promise<void> = Promise.resolve();
  const restarts = new Map<string, Restarts>();

  const record = (container: string, type: PodEvent["type"], detail = "") => {
    const event = { atMs: clock.nowMs(), container, type, detail };
    events.push(event);
    onEvent(event);
  };
  const containers = plan.containers.map((container) =>
    createContainerRun(container, plan, {
      ...ports,
      attachment,
      onLine: (line) => record(container.name, "line", line),
      onExit: (status) => handleExit(container.name, status),
    }),
  );
  const findRun = (name: string) => containers.find((run) => run.plan.name === name);
  const handlerActions = ({ exec }: ContainerRun): HandlerActions => ({
    clock,
    podIp: attachment.address,
    kubeletAddress: ports.network.kubeletAddress,
    exec,
    podGoneSignal: podGoneController.signal,
  });
  const readiness = watchReadiness(containers, handlerActions, (ready) => record("", ready ? "ready" : "unready"));

  function stopContainers(runs: readonly ContainerRun[], graceSeconds: number): Promise<void> {
    const runningContainers = runs.filter((run) => run.isRunning());
    return terminate({
      containers: runningContainers.map((run) => {
        const { name, role, preStop } = run.plan;
        const hookOption = preStop === undefined ? {} : { runHook: () => runHook(preStop, handlerActions(run)) };
        return { ...run, ...hookOption, name, isSidecar: role === "sidecar", exited: run.exited() };
      }),
      graceSeconds,
      clock,
      recordEvent: ({ container, type, detail }) => record(container, type, detail),
    });
  }

  function startContainer(run: ContainerRun): void {
    run.start();
    record(run.plan.name, "started");
  }

  function handleExit(name: string, status: number): void {
    const run = findRun(name);
    if (termination !== undefined || run === undefined || run.plan.role === "init") return;
    record(name, "exited", `status ${status}`);
    if (run.plan.role === "sidecar" || plan.restartsContainers) restartLater(run);
    else if (containers.every((other) => other.plan.role !== "regular" || !other.isRunning()))
      void terminatePod(plan.graceSeconds);
  }

  function restartLater(run: ContainerRun): void {
    const { name } = run.plan;
    const nowMs = clock.nowMs();
    const count = countedRestarts(restarts.get(name) ?? { count: 0, startedMs: nowMs }, nowMs);
    const delayMs = restartDelayMs(count);
    record(name, "restarting", `in ${delayMs} ms`);
    void clock.wait(delayMs, podGoneController.signal).then(() => {
      if (termination !== undefined || run.isRunning()) return;
      restarts.set(name, { count: count + 1, startedMs: clock.nowMs() });
      startContainer(run);
    });
  }

  function terminatePod(graceSeconds: number): Promise<void> {
    termination ??= stopForRestart
      .then(() => stopContainers(containers, graceSeconds))
      .finally(() => {
        podGoneController.abort();
        readiness.stop();
        record("", "gone");
        goneResult.resolve();
      });
    return termination;
  }

  return {
    plan,
    address: attachment.address,
    events,
    isReady: readiness.isReady,
    isRunning: (name) => findRun(name)?.isRunning() ?? false,
    startContainers: async () => {
      for (const run of containers) {
        startContainer(run);
        if (run.plan.role === "init" && (await run.exited()) !== 0)
          throw new Fault("ERR_DEMO_FAILED", `init container ${run.plan.name} of Pod ${plan.name} failed`);
      }
      readiness.start();
    },
    remove: (graceSeconds = plan.graceSeconds) => {
      if (termination === undefined) record("", "deleted", `grace period ${graceSeconds} s`);
      return terminatePod(graceSeconds);
    },
    restart: async (name) => {
      const run = findRun(name);
      if (run === undefined || termination !== undefined) return;
      stopForRestart = stopContainers([run], run.plan.terminationGraceSecondsOfLiveness ?? plan.graceSeconds);
      await stopForRestart;
    },
    whenGone: goneResult.promise,
    kill: async () => {
      podGoneController.abort();
      for (const run of containers) run.signal("SIGKILL");
      await terminatePod(0);
    },
  };
}
