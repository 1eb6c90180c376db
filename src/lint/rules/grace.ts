/** Time that is not enough. */
import { groupOf } from "../../kubernetes/listed-objects.ts";
import { objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { graceOf, gracePath, type PlacedHook, preStopHooksIn } from "../containers.ts";
import { ingressTimeouts } from "../ingress-timeouts.ts";
import type { Located, ManifestSet, Workload } from "../manifest-set.ts";
import type { Rule, Violation } from "../rule.ts";
import { leastSeconds } from "../sleeps.ts";

export const NO_GRACE: Rule = {
  id: "no-grace",
  title: "A grace period of 0",
  why: "With terminationGracePeriodSeconds: 0 containers are killed at once: no hook runs to its end, no stop signal is waited for, and the Pod's name is free before it is known to have stopped.",
  remedy: "Give the Pod as long as its longest request takes, and some seconds for endpoints to spread.",
  level: "error",
  check: ({ workloads }) =>
    workloads
      .filter((workload) => graceOf(workload) === 0 && hasMuchToLose(workload))
      .map((workload) => ({
        at: workload,
        path: gracePath(workload),
        value: 0,
        message: "Containers are killed as soon as the Pod is deleted.",
      })),
};

export const SLEEP_EXCEEDS_GRACE: Rule = {
  id: "sleep-exceeds-grace",
  title: "The preStop hook takes the whole grace period",
  why: "The grace period begins before the preStop hook, not after it. A hook that sleeps as long leaves the app two seconds between its stop signal and the kill; the API server refuses a sleep action that is longer.",
  remedy: "Raise terminationGracePeriodSeconds above the hook's time by what the app needs to finish its requests.",
  level: "error",
  check: ({ workloads }) => workloads.filter((workload) => graceOf(workload) > 0).flatMap(sleepsTooLong),
};

/** Clients, or a name that the next Pod takes over. */
function hasMuchToLose({ kind, services }: Workload): boolean {
  return kind === "StatefulSet" || services.length > 0;
}

function sleepsTooLong(workload: Workload): readonly Violation[] {
  return preStopHooksIn(workload).flatMap((hook) => {
    const seconds = leastSeconds(hook.handler);
    const grace = graceOf(workload);
    const message = `Container ${hook.name} sleeps ${seconds} s in its preStop hook, and the grace period is ${grace} s.`;
    const ofPod = seconds >= grace ? [{ at: workload, path: hook.hookPath, value: hook.handler, message }] : [];
    return [...ofPod, ...probeGraces(workload, hook, seconds)];
  });
}

/** The kubelet ends a container by its hook after failed probes too, in the time that the probe gives. */
function probeGraces(workload: Workload, { container, path, name }: PlacedHook, seconds: number): readonly Violation[] {
  return ["livenessProbe", "startupProbe"].flatMap((probe) => {
    const grace = wholeNumberAt(objectAt(container, probe), "terminationGracePeriodSeconds");
    if (grace === undefined || seconds < Math.max(grace, 1)) return [];
    const message = `After a failed ${probe} container ${name} has ${grace} s, of which its preStop hook sleeps ${seconds} s.`;
    return [{ at: workload, path: [...path, probe, "terminationGracePeriodSeconds"], value: grace, message }];
  });
}

export const GRACE_BELOW_INGRESS_TIMEOUT: Rule = {
  id: "grace-below-ingress-timeout",
  title: "The ingress waits longer than the Pod lives",
  why: "The ingress is told to wait for an answer, or the load balancer to keep a deregistered Pod, longer than the grace period: what takes that long is cut when the Pod is killed, whatever the app does.",
  remedy: "Raise terminationGracePeriodSeconds above the timeout, or lower the timeout to what requests really take.",
  level: "warning",
  check: (set) => set.objects.filter(isIngress).flatMap((ingress) => timeoutsAboveGrace(ingress, set)),
};

function isIngress({ kind, apiVersion }: Located): boolean {
  return kind === "Ingress" && ["networking.k8s.io", "apps"].includes(groupOf(apiVersion));
}

function timeoutsAboveGrace(ingress: Located, { workloads }: ManifestSet): readonly Violation[] {
  const backends = backendsOf(objectAt(ingress.object, "spec"));
  const behind = workloads.filter(
    ({ namespace, services }) => namespace === ingress.namespace && services.some(({ name }) => backends.has(name)),
  );
  const timeouts = ingressTimeouts(objectAt(objectAt(ingress.object, "metadata"), "annotations") ?? {});
  return behind.flatMap((workload) =>
    timeouts
      .filter(({ seconds }) => seconds > graceOf(workload))
      .map(({ annotation, seconds, value, waits }) => ({
        at: ingress,
        path: [...ingress.at, "metadata", "annotations", annotation],
        value,
        message: `${waits} ${seconds} s, and ${workload.kind} ${workload.name} has a grace period of ${graceOf(workload)} s.`,
      })),
  );
}

function backendsOf(spec: RawObject | undefined): ReadonlySet<string> {
  const paths = objectsAt(spec, "rules").flatMap((rule) => objectsAt(objectAt(rule, "http"), "paths"));
  const backends = [...paths.map((path) => objectAt(path, "backend")), objectAt(spec, "defaultBackend")];
  // `serviceName` is the API's older form.
  return new Set(
    backends.flatMap((backend) => textAt(objectAt(backend, "service"), "name") ?? textAt(backend, "serviceName") ?? []),
  );
}
