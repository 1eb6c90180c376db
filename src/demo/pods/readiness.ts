/** Readiness of a Pod. Probing continues while the Pod ends, as in the kubelet. */
import type { ContainerRun } from "./container-run.ts";
import { type HandlerPorts, probe } from "./lifecycle-handler.ts";

type Readiness = {
  readonly isReady: () => boolean;
  readonly start: () => void;
  readonly stop: () => void;
};

/** A Pod without probes is Ready while its regular containers and sidecars run. */
export function watchReadiness(
  containers: readonly ContainerRun[],
  portsOf: (run: ContainerRun) => HandlerPorts,
  onChange: (ready: boolean) => void,
): Readiness {
  const healthy = new Map<string, boolean>();
  const over = new AbortController();
  let started = false;
  let before = false;
  let everReady = false;
  const counted = containers.filter((run) => run.plan.role !== "init");
  const isReady = () => started && counted.every((run) => run.isRunning() && (healthy.get(run.plan.name) ?? true));
  const update = () => {
    const now = isReady();
    if (now !== before) onChange(now);
    before = now;
    everReady ||= now;
  };
  const watch = async (run: ContainerRun) => {
    const plan = run.plan.readiness;
    if (plan === undefined) return;
    const ports = portsOf(run);
    await ports.clock.wait(plan.initialDelayMs, over.signal);
    while (!over.signal.aborted) {
      const result = run.isRunning() && (await probe(plan, ports));
      if (over.signal.aborted) return;
      healthy.set(run.plan.name, result);
      update();
      // The kubelet's period would make the start of a demo too long. It matters once the Pod was Ready: the manager counts
      // more frequent probes as traffic.
      await ports.clock.wait(result || everReady ? plan.periodMs : Math.min(plan.periodMs, 250), over.signal);
    }
  };
  return {
    isReady,
    start: () => {
      for (const run of counted) if (run.plan.readiness !== undefined) healthy.set(run.plan.name, false);
      started = true;
      update();
      for (const run of counted) void watch(run);
    },
    stop: () => over.abort(),
  };
}
