/** Plans native and classic mode: the manager's container, hooks, and grace period. */
import type { DrainSettings } from "../../contract/drain-settings.ts";
import { driverRow } from "../../contract/driver-table.ts";
import type { RelayAccess } from "../../contract/relay-access.ts";
import { annotationsOf, DEFAULT_GRACE_SECONDS } from "../../kubernetes/pod.ts";
import { limitOf, requestOf } from "../../kubernetes/qos.ts";
import { objectAt, type RawObject } from "../../kubernetes/raw-json.ts";
import type { Problem } from "../../policy/problem.ts";
import { graceProblems } from "../hooks/grace.ts";
import { chooseContainers, type HookPlan, hasOnlyOwnHooks, keptHookProblems, planHooks } from "../hooks/hook-plan.ts";
import { chainSeconds } from "../hooks/own-hooks.ts";
import { hasCredential, type ManagerInput, makeManager, relayAccessFor } from "../manager/container.ts";
import { renewManager } from "../manager/renew-manager.ts";
import { chooseManagerUser } from "../manager/run-as-user.ts";
import { adminUrlOf, driverOf, isDriverRequested } from "../mesh/driver.ts";
import { copySocketMount, type DriverAddress, findSocketUser, socketProblems } from "../mesh/driver-socket.ts";
import { captureProblems, choosePort } from "../mesh/ports.ts";
import type { Edit } from "../record/edit.ts";
import { formatRecord } from "../record/original-record.ts";
import { type Fit, fitLimitRanges } from "../resources/fit-limit-ranges.ts";
import { fitsPodLevel, planResources, resourceProblems, totalOf } from "../resources/manager-resources.ts";
import { chainOf, changesOf, type ManagerAccess, managerPositionOf, recordOf } from "./changes.ts";
import {
  type Draft,
  type Omissions,
  originalGrace,
  type Plan,
  type PlanRequest,
  planWithinSizeBudget,
} from "./plan.ts";
import { type PreloadPlan, planPreload } from "./preload-plan.ts";
import { conflictProblems, managerSettings, type SettingsRequest } from "./settings.ts";
import { portConflictProblem, unpullableProblem } from "./skip-problems.ts";

export function planManager(request: PlanRequest): Plan {
  const { pod, policy, where, imagePullError } = request;
  if (imagePullError !== undefined)
    return {
      kind: "skip",
      reason: "image_unpullable",
      problems: [unpullableProblem(request.image, imagePullError, where)],
    };
  const port = choosePort(pod, policy.port, policy.drainPorts);
  if (port === undefined)
    return {
      kind: "skip",
      reason: "port_conflict",
      problems: [portConflictProblem(pod, policy.port, policy.drainPorts, where)],
    };
  // All drafts share one hook token and one relay credential.
  const relay = relayOf(request);
  const token = reusableToken(request, relay) ?? request.newToken();
  return planWithinSizeBudget(where, (omissions) => draftManager(request, omissions, { port, token, relay }));
}

function relayOf(request: PlanRequest): RelayAccess | undefined {
  const { pod, namespace, issueRelayAccess } = request;
  const manager = request.existing?.manager?.container;
  return relayAccessFor({ pod, namespace, issueRelayAccess, manager, staysInPlace: staysInPlace(request) });
}

/**
 * Returns the hook token of an earlier admission. A manager whose relay credential is replaced comes from a manifest or a copied
 * Pod. Other users may have read its token, so a new token is created.
 */
function reusableToken({ existing }: PlanRequest, relay: RelayAccess | undefined): string | undefined {
  const manager = existing?.manager;
  if (manager === undefined) return undefined;
  return relay === undefined || hasCredential(manager.container, relay.credential) ? manager.token : undefined;
}

type PlanInput = {
  readonly request: PlanRequest;
  readonly hooks: readonly HookPlan[];
  readonly settingsRequest: SettingsRequest;
  readonly settings: DrainSettings;
  readonly changes: readonly Edit[];
  readonly recordText: string;
  readonly access: ManagerAccess;
  /** Problems of hooks and preload, for the requested policy. */
  readonly problems: readonly Problem[];
};

function draftManager(requested: PlanRequest, omissions: Omissions, access: ManagerAccess): Draft {
  const request = omissions.keepsHooks ? withKeptHooks(requested) : requested;
  const { pod, policy, where } = request;
  const chosen = chooseContainers(pod, policy, where);
  const hooks = planHooks(pod, policy, chosen.names, driverOf(pod, policy));
  const preload = planPreload(request);
  const settingsRequest = settingsRequestOf(request, hooks, access.port, preload);
  const settings = managerSettings(settingsRequest);
  const changes = changesOf({ request, omissions, hooks, settings, access, preload: preload.edits });
  const recordText = formatRecord(recordOf(request, hooks, changes));
  const plan = (): Plan => {
    const problems = [...chosen.problems, ...keptHookProblems(hooks, requested.policy, where), ...preload.problems];
    return completePlan({ request, hooks, settingsRequest, settings, changes, recordText, access, problems });
  };
  return { recordText, plan };
}

function completePlan(input: PlanInput): Plan {
  const { request, hooks, settingsRequest, settings, changes, recordText, access, problems } = input;
  const { pod, policy, where } = request;
  if (hasOnlyOwnHooks(hooks) && !isDriverRequested(policy)) return { kind: "skip", reason: "own_hooks", problems };
  const resources = planResources(pod, policy.resources);
  const fit = fitNamespaceLimits(request, resources.resources);
  if (fit.kind === "conflict")
    return { kind: "skip", reason: "limit_range_conflict", problems: [...problems, fit.problem] };
  const container = managerOf(request, { ...access, settings, recordText, resources: fit.resources });
  const seconds = changes.reduce((sum, edit) => (edit.kind === "set-grace" ? edit.seconds : sum), 0);
  return {
    kind: "edits",
    edits: [{ ...managerPositionOf(request), container }, ...changes],
    problems: [
      ...problems,
      ...conflictProblems(settingsRequest, settings, where),
      ...resourceProblems(resources, request),
      ...(policy.resources === "auto" ? [] : fit.changes),
      ...socketProblems(pod, driverAddress(settings), where),
      ...graceProblems(pod, seconds, where),
      ...meshProblems(pod, changes, access.port, where),
      ...repairProblems(request),
    ],
  };
}

function fitNamespaceLimits({ pod, limitRanges, where }: PlanRequest, plannedResources: RawObject | undefined): Fit {
  if (limitRanges.length === 0) return { kind: "fits", resources: plannedResources, changes: [] };
  return fitLimitRanges({
    plannedResources,
    ranges: limitRanges,
    sumOfOthers: (name, list) => totalOf(pod, name, list === "limits" ? limitOf : requestOf),
    fitsPodLevel: (changed) => fitsPodLevel(pod, changed),
    where,
  });
}

function withKeptHooks(request: PlanRequest): PlanRequest {
  return { ...request, policy: { ...request.policy, preStop: "keep" } };
}

function settingsRequestOf(
  request: PlanRequest,
  hooks: readonly HookPlan[],
  port: number,
  preload: PreloadPlan,
): SettingsRequest {
  const { pod, policy, mode } = request;
  const driver = driverOf(pod, policy);
  return {
    pod,
    policy,
    isClassic: mode === "classic",
    port,
    driver,
    driverUrl: adminUrlOf(pod, policy, driverRow(driver)),
    hooks,
    originalSeconds: originalGrace(request) ?? DEFAULT_GRACE_SECONDS,
    chainSeconds: chainSeconds(chainOf(hooks)),
    preload: preload.edits.length === 0 ? "disabled" : policy.preload,
  };
}

function managerOf(
  request: PlanRequest,
  input: Pick<ManagerInput, "settings" | "token" | "recordText" | "resources" | "relay">,
): RawObject {
  const { pod, policy, mode, image, pullPolicy, existing, namespaceAnnotations } = request;
  const address = driverAddress(input.settings);
  const desired = makeManager({
    ...input,
    isNative: mode === "native",
    image,
    pullPolicy,
    mount: copySocketMount(pod, address),
    user: chooseManagerUser({
      pod,
      namespaceAnnotations,
      choice: policy.runAsUser,
      socketUser: findSocketUser(pod, address),
    }),
  });
  const manager = existing?.manager;
  return manager !== undefined && staysInPlace(request) ? renewManager(manager.container, desired) : desired;
}

function driverAddress({ driver, driverUrl }: DrainSettings): DriverAddress {
  return { driverUrl, row: driverRow(driver) };
}

function staysInPlace(request: PlanRequest): boolean {
  return request.existing?.manager?.list === managerPositionOf(request).list;
}

/** Checks only hooks that the kubelet sends to the manager's port: hooks that Istio rewrote go to a port of Istio's agent. */
function meshProblems(pod: RawObject, changes: readonly Edit[], port: number, where: string): readonly Problem[] {
  const hasDirectHook = changes.some(
    (edit) => edit.kind === "set-pre-stop" && objectAt(edit.handler, "httpGet")?.["port"] === port,
  );
  if (!hasDirectHook) return [];
  const annotateEdit = changes.find((edit) => edit.kind === "annotate");
  return captureProblems(pod, port, { ...annotationsOf(pod), ...annotateEdit?.values }, where);
}

/** Without `restartPolicy: Always`, a native manager would be an init container that never completes. */
function repairProblems({ existing, mode, where }: PlanRequest): readonly Problem[] {
  const manager = existing?.manager;
  if (mode !== "native" || manager?.list !== "initContainers") return [];
  if (manager.container["restartPolicy"] === "Always") return [];
  const message =
    "Another webhook removed restartPolicy: Always, without which the Pod would never start. lastcall restored it.";
  return [{ code: "manager_repaired", where: `${where}, container lastcall`, message }];
}
