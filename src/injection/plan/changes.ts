/** Plans the record of the original values, and all changes of native and classic mode except the manager's container. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import type { RelayAccess } from "../../contract/relay-access.ts";
import { VERSION } from "../../contract/version.ts";
import {
  annotationsOf,
  containersOf,
  DEFAULT_GRACE_SECONDS,
  longRunningContainersOf,
  nameOf,
} from "../../kubernetes/pod.ts";
import { isAbsent, listAt, objectAt, objectsAt, type RawObject, textAt, valueAt } from "../../kubernetes/raw-json.ts";
import { STATUS_ANNOTATION } from "../../policy/fields.ts";
import { gracePeriodSeconds } from "../hooks/grace.ts";
import type { HookPlan } from "../hooks/hook-plan.ts";
import {
  chainSeconds,
  createTargetFinder,
  type FindRewrittenTarget,
  type HookTarget,
  isRewrittenByIstio,
} from "../hooks/own-hooks.ts";
import { DEFAULT_CONTAINER, defaultContainerOf } from "../mesh/mesh.ts";
import { meshExclusions } from "../mesh/ports.ts";
import type { Mode } from "../outcome.ts";
import { type Edit, emptyParents, type ProbeName, probeEntry } from "../record/edit.ts";
import { type OriginalRecord, replacedAnnotations, replacedHandlers } from "../record/original-record.ts";
import { atLeastExisting, type Omissions, originalGrace, type PlanRequest } from "./plan.ts";

/** Port and token by which hooks reach the manager, and the manager's access to the relay. */
export type ManagerAccess = { readonly port: number; readonly token: string; readonly relay: RelayAccess | undefined };

type ChangesInput = {
  readonly request: PlanRequest;
  readonly omissions: Omissions;
  readonly hooks: readonly HookPlan[];
  readonly settings: DrainSettings;
  readonly access: ManagerAccess;
  readonly preload: readonly Edit[];
};

export function changesOf({ request, omissions, hooks, settings, access, preload }: ChangesInput): readonly Edit[] {
  const { pod } = request;
  const originalSeconds = originalGrace(request) ?? DEFAULT_GRACE_SECONDS;
  const needed = gracePeriodSeconds(originalSeconds, settings, chainSeconds(chainOf(hooks)));
  const values = omissions.leavesAnnotations ? {} : annotationValues(request, hooks, access.port);
  return [
    ...holdEdits(
      request,
      settings.hooks.map((hook) => hook.container),
      access,
    ),
    { kind: "set-grace", seconds: atLeastExisting(pod, needed) },
    ...pullSecretEdits(request),
    ...preload,
    ...(omissions.leavesProbes ? [] : probeGraceEdits(pod, originalSeconds)),
    ...(Object.keys(values).length > 0 ? [{ kind: "annotate", values } as const] : []),
  ];
}

function pullSecretEdits({ pod, pullSecrets }: PlanRequest): readonly Edit[] {
  if (pullSecrets === undefined) return [];
  const presentNames = objectsAt(objectAt(pod, "spec"), "imagePullSecrets").map((secret) => secret["name"]);
  const names = pullSecrets.filter((name) => !presentNames.includes(name));
  return names.length === 0 ? [] : [{ kind: "add-pull-secrets", names }];
}

/** Plans one hook per held container. An equivalent existing hook stays, including the API server's defaults. */
function holdEdits(
  request: PlanRequest,
  heldContainers: readonly string[],
  { token, port }: { readonly token: string; readonly port: number },
): readonly Edit[] {
  const findTarget = createTargetFinder(request.pod);
  return heldContainers.map((container) => {
    const desired = { httpGet: { path: `/${token}/prestop/${container}`, port } };
    const existing = request.existing?.handlers.get(container);
    const isKept = existing !== undefined && isEquivalent(findTarget, container, existing, desired.httpGet);
    const handler = isKept ? existing : desired;
    return { kind: "set-pre-stop", container, handler };
  });
}

/** Annotations that injection sets. A present value that is not a string is not changed. */
function annotationValues(
  request: PlanRequest,
  hooks: readonly HookPlan[],
  port: number,
): Readonly<Record<string, string>> {
  const { pod, mode, namespaceAnnotations } = request;
  const presentAnnotations = annotationsOf(pod);
  const keptHooks = hooks.flatMap((hook) => (hook.kind === "keep" && hook.ownHookKind !== "" ? [hook.container] : []));
  const values: Record<string, string> = {};
  if (isWritable(presentAnnotations, STATUS_ANNOTATION)) values[STATUS_ANNOTATION] = statusText(mode, keptHooks);
  if (!Object.hasOwn(presentAnnotations, DEFAULT_CONTAINER))
    values[DEFAULT_CONTAINER] = defaultContainerOf(containersOf(pod).map(nameOf));
  for (const [key, value] of meshExclusions(pod, namespaceAnnotations, port))
    if (isWritable(presentAnnotations, key)) values[key] = value;
  return values;
}

function isWritable(annotations: RawObject, key: string): boolean {
  return !Object.hasOwn(annotations, key) || typeof annotations[key] === "string";
}

/** Position of the manager: unchanged for an existing manager, otherwise the first init container or the last container. */
export function managerPositionOf(request: PlanRequest): Omit<Extract<Edit, { kind: "add-manager" }>, "container"> {
  const { pod, mode, existing } = request;
  const list = mode === "native" ? "initContainers" : "containers";
  if (existing?.manager?.list === list) return { kind: "add-manager", list, at: existing.manager.at };
  return { kind: "add-manager", list, at: mode === "native" ? 0 : listAt(objectAt(pod, "spec"), list).length };
}

/** A hook that Istio rewrote is equivalent unless Istio's agent forwards it to an older port or token. */
function isEquivalent(
  findTarget: FindRewrittenTarget,
  container: string,
  handler: RawObject,
  desired: HookTarget,
): boolean {
  if (isRewrittenByIstio(handler, container)) {
    const target = findTarget(container) ?? desired;
    return target.path === desired.path && target.port === desired.port;
  }
  const httpGet = objectAt(handler, "httpGet");
  return (
    (textAt(httpGet, "path") ?? "") === desired.path &&
    httpGet?.["port"] === desired.port &&
    (textAt(httpGet, "scheme") ?? "HTTP") === "HTTP" &&
    isAbsent(valueAt(httpGet, "host"))
  );
}

/** Maximum number of kept hooks in the status annotation. */
const KEPT_HOOKS_LIMIT = 10;

function statusText(mode: Mode, keptHooks: readonly string[]): string {
  return JSON.stringify({
    version: VERSION,
    mode,
    ...(keptHooks.length > 0 ? { ownHooks: keptHooks.slice(0, KEPT_HOOKS_LIMIT) } : {}),
  });
}

type ProbeEdit = Extract<Edit, { kind: "set-probe-grace" }>;

/** The API server refuses a grace period for readiness probes, because they do not restart containers. */
const PROBES: readonly ProbeName[] = ["livenessProbe", "startupProbe"];

export function probeGraceEdits(pod: RawObject, originalSeconds: number): readonly ProbeEdit[] {
  return longRunningContainersOf(pod).flatMap((container) =>
    PROBES.filter((probe) => {
      const probeFields = objectAt(container, probe);
      return probeFields !== undefined && isAbsent(valueAt(probeFields, "terminationGracePeriodSeconds"));
    }).map(
      (probe): ProbeEdit => ({
        kind: "set-probe-grace",
        container: nameOf(container),
        probe,
        seconds: originalSeconds,
      }),
    ),
  );
}

export function recordOf(request: PlanRequest, hooks: readonly HookPlan[], changes: readonly Edit[]): OriginalRecord {
  const { pod } = request;
  const values = changes.flatMap((edit) => (edit.kind === "annotate" ? Object.keys(edit.values) : []));
  const heldContainers = hooks.flatMap((hook) => (hook.kind === "hold" ? [hook.container] : []));
  const grace = originalGrace(request);
  return {
    grace,
    probes: changes.flatMap((edit) => (edit.kind === "set-probe-grace" ? [probeEntry(edit)] : [])),
    pullSecrets: changes.flatMap((edit) => (edit.kind === "add-pull-secrets" ? edit.names : [])),
    preStop: replacedHandlers(pod, heldContainers),
    chain: chainOf(hooks),
    annotations: replacedAnnotations(annotationsOf(pod), values),
    empty: emptyParents(pod, [...changes, { ...managerPositionOf(request), container: {} }], grace),
  };
}

export function chainOf(hooks: readonly HookPlan[]): OriginalRecord["chain"] {
  const entries = hooks.flatMap((hook) =>
    hook.kind === "hold" && hook.chained !== undefined ? [[hook.container, hook.chained] as const] : [],
  );
  return Object.fromEntries(entries);
}
