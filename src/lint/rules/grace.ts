/** Finds grace periods that are too short for hooks or ingress timeouts. */
import { groupOf } from "../../kubernetes/listed-objects.ts";
import { objectAt, objectsAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { graceOf, gracePath, type PlacedHook, preStopHooksIn } from "../containers.ts";
import type { LocatedObject, ManifestSet, Workload } from "../manifest-set.ts";
import type { Rule, Violation } from "../rule.ts";
import { minimumSeconds } from "../sleeps.ts";

export const NO_GRACE: Rule = {
  id: "no-grace",
  title: "A grace period of 0",
  why: "With terminationGracePeriodSeconds: 0 containers are killed immediately: hooks do not complete, the app cannot handle its stop signal, and the Pod's name is reused before the kubelet confirms that the Pod stopped.",
  remedy:
    "Set terminationGracePeriodSeconds to the duration of the longest request, plus some seconds for the endpoint's withdrawal.",
  level: "error",
  check: ({ workloads }) =>
    workloads
      .filter((workload) => graceOf(workload) === 0 && needsGrace(workload))
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
  why: "The grace period includes the preStop hook. A hook that sleeps for all of it leaves the app two seconds between stop signal and kill; the API server rejects a sleep action that is longer than the grace period.",
  remedy:
    "Set terminationGracePeriodSeconds to the hook's duration plus the time the app needs to finish its requests.",
  level: "error",
  check: ({ workloads }) => workloads.filter((workload) => graceOf(workload) > 0).flatMap(sleepViolations),
};

/** Whether the Pods have clients, or have names that their replacements reuse. */
function needsGrace({ kind, services }: Workload): boolean {
  return kind === "StatefulSet" || services.length > 0;
}

function sleepViolations(workload: Workload): readonly Violation[] {
  return preStopHooksIn(workload).flatMap((hook) => {
    const seconds = minimumSeconds(hook.handler);
    const grace = graceOf(workload);
    const message = `Container ${hook.name} sleeps ${seconds} s in its preStop hook, and the grace period is ${grace} s.`;
    const podViolations = seconds >= grace ? [{ at: workload, path: hook.hookPath, value: hook.handler, message }] : [];
    return [...podViolations, ...probeViolations(workload, hook, seconds)];
  });
}

/** After a failed probe the kubelet also runs the preStop hook, within the probe's grace period. */
function probeViolations(
  workload: Workload,
  { container, path, name }: PlacedHook,
  seconds: number,
): readonly Violation[] {
  return ["livenessProbe", "startupProbe"].flatMap((probe) => {
    const grace = wholeNumberAt(objectAt(container, probe), "terminationGracePeriodSeconds");
    if (grace === undefined || seconds < Math.max(grace, 1)) return [];
    const message = `After a failed ${probe}, container ${name} has a grace period of ${grace} s, and its preStop hook sleeps ${seconds} s.`;
    return [{ at: workload, path: [...path, probe, "terminationGracePeriodSeconds"], value: grace, message }];
  });
}

export const GRACE_BELOW_INGRESS_TIMEOUT: Rule = {
  id: "grace-below-ingress-timeout",
  title: "The ingress timeout exceeds the grace period",
  why: "The ingress's response timeout, or the load balancer's deregistration delay, is longer than the grace period. Requests that exceed the grace period are cut when the Pod is killed.",
  remedy:
    "Raise terminationGracePeriodSeconds above the timeout, or lower the timeout to the duration of the longest request.",
  level: "warning",
  check: (set) => set.objects.filter(isIngress).flatMap((ingress) => timeoutsAboveGrace(ingress, set)),
};

function isIngress({ kind, apiVersion }: LocatedObject): boolean {
  return kind === "Ingress" && ["networking.k8s.io", "apps"].includes(groupOf(apiVersion));
}

function timeoutsAboveGrace(ingress: LocatedObject, { workloads }: ManifestSet): readonly Violation[] {
  const backends = backendsOf(objectAt(ingress.object, "spec"));
  const backendWorkloads = workloads.filter(
    ({ namespace, services }) => namespace === ingress.namespace && services.some(({ name }) => backends.has(name)),
  );
  const timeouts = ingressTimeouts(objectAt(objectAt(ingress.object, "metadata"), "annotations") ?? {});
  return backendWorkloads.flatMap((workload) =>
    timeouts
      .filter(({ seconds }) => seconds > graceOf(workload))
      .map(({ annotation, seconds, value, sentenceStart }) => ({
        at: ingress,
        path: [...ingress.objectPath, "metadata", "annotations", annotation],
        value,
        message: `${sentenceStart} ${seconds} s, and ${workload.kind} ${workload.name} has a grace period of ${graceOf(workload)} s.`,
      })),
  );
}

function backendsOf(spec: RawObject | undefined): ReadonlySet<string> {
  const paths = objectsAt(spec, "rules").flatMap((rule) => objectsAt(objectAt(rule, "http"), "paths"));
  const backends = [...paths.map((path) => objectAt(path, "backend")), objectAt(spec, "defaultBackend")];
  // Ingresses of API versions before networking.k8s.io/v1 have the field `serviceName`.
  return new Set(
    backends.flatMap((backend) => textAt(objectAt(backend, "service"), "name") ?? textAt(backend, "serviceName") ?? []),
  );
}

type IngressTimeout = {
  readonly annotation: string;
  readonly seconds: number;
  readonly value: unknown;
  readonly sentenceStart: string;
};

type TimeoutAnnotation = {
  readonly annotation: string;
  readonly read: (text: string) => number | undefined;
  readonly sentenceStart: string;
};

const RESPONSE_TIMEOUT = "The ingress's response timeout is";

const TIMEOUTS: readonly TimeoutAnnotation[] = [
  {
    annotation: "nginx.ingress.kubernetes.io/proxy-read-timeout",
    read: parseWholeSeconds,
    sentenceStart: RESPONSE_TIMEOUT,
  },
  { annotation: "nginx.org/proxy-read-timeout", read: parseSeconds, sentenceStart: RESPONSE_TIMEOUT },
  { annotation: "haproxy.org/timeout-server", read: parseSeconds, sentenceStart: RESPONSE_TIMEOUT },
  { annotation: "haproxy-ingress.github.io/timeout-server", read: parseSeconds, sentenceStart: RESPONSE_TIMEOUT },
  { annotation: "projectcontour.io/response-timeout", read: parseSeconds, sentenceStart: RESPONSE_TIMEOUT },
  {
    annotation: "alb.ingress.kubernetes.io/target-group-attributes",
    read: (text) => parseAttributeSeconds(text, "deregistration_delay.timeout_seconds"),
    sentenceStart: "The load balancer's deregistration delay is",
  },
];

export function ingressTimeouts(annotations: RawObject): readonly IngressTimeout[] {
  return TIMEOUTS.flatMap(({ annotation, read, sentenceStart }) => {
    const value = annotations[annotation];
    const seconds = typeof value === "string" ? read(value) : undefined;
    return seconds === undefined ? [] : [{ annotation, seconds, value, sentenceStart }];
  });
}

function parseWholeSeconds(text: string): number | undefined {
  return /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3_600 };

function parseSeconds(text: string): number | undefined {
  const [, digits, unit] = /^([0-9]{1,9})(ms|s|m|h)$/.exec(text) ?? [];
  return digits === undefined || unit === undefined ? undefined : Number(digits) * (UNIT_SECONDS[unit] ?? 1);
}

function parseAttributeSeconds(text: string, name: string): number | undefined {
  const pair = text.split(",").find((part) => part.trim().startsWith(`${name}=`));
  return pair === undefined ? undefined : parseWholeSeconds(pair.trim().slice(name.length + 1));
}
