/** Time that is not enough. */
import { groupOf } from "../../kubernetes/listed-objects.ts";
import { objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { graceOf, gracePath, type PlacedHook, preStopHooksIn } from "../containers.ts";
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

/** Annotations by which ingress controllers are told how long to wait. */
type IngressTimeout = {
  readonly annotation: string;
  readonly seconds: number;
  readonly value: unknown;
  /** The sentence up to the number. */
  readonly waits: string;
};

type TimeoutFact = {
  readonly annotation: string;
  readonly read: (text: string) => number | undefined;
  readonly waits: string;
};

const FOR_ANSWERS = "The ingress waits for an answer for";

const TIMEOUTS: readonly TimeoutFact[] = [
  { annotation: "nginx.ingress.kubernetes.io/proxy-read-timeout", read: wholeSeconds, waits: FOR_ANSWERS },
  { annotation: "nginx.org/proxy-read-timeout", read: duration, waits: FOR_ANSWERS },
  { annotation: "haproxy.org/timeout-server", read: duration, waits: FOR_ANSWERS },
  { annotation: "haproxy-ingress.github.io/timeout-server", read: duration, waits: FOR_ANSWERS },
  { annotation: "projectcontour.io/response-timeout", read: duration, waits: FOR_ANSWERS },
  {
    annotation: "alb.ingress.kubernetes.io/target-group-attributes",
    read: (text) => attribute(text, "deregistration_delay.timeout_seconds"),
    waits: "The load balancer lets the requests of a deregistered Pod run for",
  },
];

export function ingressTimeouts(annotations: RawObject): readonly IngressTimeout[] {
  return TIMEOUTS.flatMap(({ annotation, read, waits }) => {
    const value = annotations[annotation];
    const seconds = typeof value === "string" ? read(value) : undefined;
    return seconds === undefined ? [] : [{ annotation, seconds, value, waits }];
  });
}

function wholeSeconds(text: string): number | undefined {
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600 };

function duration(text: string): number | undefined {
  const [, digits, unit] = /^([0-9]{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  return digits === undefined || unit === undefined ? undefined : Number(digits) * (UNIT_SECONDS[unit] ?? 1);
}

/** `a=1,b=2` */
function attribute(text: string, name: string): number | undefined {
  const pair = text.split(",").find((part) => part.trim().startsWith(`${name}=`));
  return pair === undefined ? undefined : wholeSeconds(pair.trim().slice(name.length + 1));
}
