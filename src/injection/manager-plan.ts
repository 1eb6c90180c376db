/** Native and classic mode: the manager in the Pod, its hooks, and the grace period that holds the drain. */
import type { DrainSettings } from "../contract/drain-settings.ts";
import type { RelayAccess } from "../contract/relay-access.ts";
import { annotationsOf, DEFAULT_GRACE_SECONDS } from "../kubernetes/pod.ts";
import { limitOf, requestOf } from "../kubernetes/qos.ts";
import type { RawObject } from "../kubernetes/raw-json.ts";
import type { Problem } from "../policy/problem.ts";
import { blankParents, probeEntry } from "./blank-parents.ts";
import { adminUrlOf, driverOf, isDriverAskedFor } from "./driver.ts";
import { socketMount, socketUser } from "./driver-socket.ts";
import { type Draft, type Economy, planWithinRecord } from "./economy.ts";
import type { Edit } from "./edit.ts";
import { choosePort } from "./free-port.ts";
import { gracePeriodSeconds } from "./grace.ts";
import { type HookPlan, hasOnlyOwnHooks, planHooks } from "./hook-plan.ts";
import { chosenContainers, keptHookProblems } from "./hook-problems.ts";
import { fitLimitRanges } from "./limit-range-fit.ts";
import { annotationValues, holdEdits, placeOf } from "./manager-changes.ts";
import { type ManagerMaking, makeManager } from "./manager-container.ts";
import { fitsPodLevel, planResources, totalOf } from "./manager-resources.ts";
import { conflictProblems, managerSettings, type SettingsRequest } from "./manager-settings.ts";
import { chainSeconds, formatRecord, type OriginalRecord } from "./original-record.ts";
import { graceProblems, meshProblems, repairProblems, resourceProblems, socketProblems } from "./plan-problems.ts";
import { atLeastStanding, originalGrace, type Plan, type PlanRequest } from "./plan-request.ts";
import { probeGraceEdits } from "./probe-grace.ts";
import { relayAccessFor } from "./relay-variables.ts";
import { renewManager } from "./renewed-manager.ts";
import { replacedAnnotations, replacedHandlers } from "./replaced-handlers.ts";

export function planManager(request: PlanRequest): Plan {
  const port = choosePort(request.pod, request.policy.port, request.policy.drainPorts);
  if (port === undefined) return { kind: "skip", reason: "port_conflict", problems: [] };
  // One token and one credential for all drafts: only the last of them counts.
  const token = request.injected?.manager?.token ?? request.newToken();
  const relay = relayOf(request);
  return planWithinRecord(request.where, (economy) => draftManager(request, economy, { port, token, relay }));
}

type Address = { readonly port: number; readonly token: string; readonly relay: RelayAccess | undefined };

function relayOf(request: PlanRequest): RelayAccess | undefined {
  const { pod, namespace, giveRelayAccess, injected } = request;
  const standing = injected?.manager?.container;
  return relayAccessFor({ pod, namespace, giveRelayAccess, standing, staysInPlace: staysInPlace(request) });
}

type Parts = {
  readonly request: PlanRequest;
  readonly hooks: readonly HookPlan[];
  readonly settingsRequest: SettingsRequest;
  readonly settings: DrainSettings;
  readonly changes: readonly Edit[];
  readonly recordText: string;
  readonly address: Address;
  /** About the hooks, with the policy as it was given. */
  readonly problems: readonly Problem[];
};

function draftManager(given: PlanRequest, economy: Economy, address: Address): Draft {
  const request = economy.keepsHooks ? keepingHooks(given) : given;
  const { pod, policy, where } = request;
  const chosen = chosenContainers(pod, policy, where);
  const hooks = planHooks(pod, policy, chosen.names);
  const settingsRequest = settingsRequestOf(request, hooks, address.port);
  const settings = managerSettings(settingsRequest);
  const changes = changesOf({ request, economy, hooks, settings, address });
  const recordText = formatRecord(recordOf(request, hooks, changes));
  const plan = (): Plan => {
    const problems = [...chosen.problems, ...keptHookProblems(hooks, given.policy, where)];
    return planParts({ request, hooks, settingsRequest, settings, changes, recordText, address, problems });
  };
  return { recordText, plan };
}

function planParts(parts: Parts): Plan {
  const { request, hooks, settingsRequest, settings, changes, recordText, address, problems } = parts;
  const { pod, policy, where } = request;
  if (hasOnlyOwnHooks(hooks) && !isDriverAskedFor(policy)) return { kind: "skip", reason: "own_hooks", problems };
  const resources = planResources(pod, policy.resources);
  const fit = fitLimitRanges({
    planned: resources.resources,
    ranges: request.limitRanges,
    others: (name, list) => totalOf(pod, name, list === "limits" ? limitOf : requestOf),
    fitsPodLevel: (changed) => fitsPodLevel(pod, changed),
    where,
  });
  if (fit.kind === "conflict")
    return { kind: "skip", reason: "limit_range_conflict", problems: [...problems, fit.problem] };
  const container = managerOf(request, { ...address, settings, recordText, resources: fit.resources });
  const seconds = changes.reduce((sum, edit) => (edit.kind === "set-grace" ? edit.seconds : sum), 0);
  return {
    kind: "edits",
    edits: [{ ...placeOf(request), container }, ...changes],
    problems: [
      ...problems,
      ...conflictProblems(settingsRequest, settings, where),
      ...resourceProblems(resources, request),
      ...(policy.resources === "auto" ? [] : fit.changes),
      ...socketProblems(pod, settings.driverUrl, where),
      ...graceProblems(seconds, where),
      ...meshProblems(pod, changes, address.port, where),
      ...repairProblems(request),
    ],
  };
}

function keepingHooks(request: PlanRequest): PlanRequest {
  return { ...request, policy: { ...request.policy, preStop: "keep" } };
}

function settingsRequestOf(request: PlanRequest, hooks: readonly HookPlan[], port: number): SettingsRequest {
  const { pod, policy, mode } = request;
  const driver = driverOf(pod, policy);
  return {
    pod,
    policy,
    classic: mode === "classic",
    port,
    driver,
    driverUrl: adminUrlOf(pod, policy, driver),
    hooks,
    originalSeconds: originalGrace(request) ?? DEFAULT_GRACE_SECONDS,
    chainSeconds: chainSeconds(chainOf(hooks)),
  };
}

type Changing = {
  readonly request: PlanRequest;
  readonly economy: Economy;
  readonly hooks: readonly HookPlan[];
  readonly settings: DrainSettings;
  readonly address: Address;
};

/** Everything but the container. */
function changesOf({ request, economy, hooks, settings, address }: Changing): readonly Edit[] {
  const { pod } = request;
  const originalSeconds = originalGrace(request) ?? DEFAULT_GRACE_SECONDS;
  const needed = gracePeriodSeconds(originalSeconds, settings, chainSeconds(chainOf(hooks)));
  const values = economy.leavesAnnotations ? {} : annotationValues(request, hooks, address.port);
  return [
    ...holdEdits(
      request,
      settings.hooks.map((hook) => hook.container),
      address,
    ),
    { kind: "set-grace", seconds: atLeastStanding(pod, needed) },
    ...(economy.leavesProbes ? [] : probeGraceEdits(pod, originalSeconds)),
    ...(Object.keys(values).length > 0 ? [{ kind: "annotate", values } as const] : []),
  ];
}

function recordOf(request: PlanRequest, hooks: readonly HookPlan[], changes: readonly Edit[]): OriginalRecord {
  const { pod } = request;
  const values = changes.flatMap((edit) => (edit.kind === "annotate" ? Object.keys(edit.values) : []));
  const held = hooks.flatMap((hook) => (hook.kind === "hold" ? [hook.container] : []));
  const grace = originalGrace(request);
  return {
    grace,
    probes: changes.flatMap((edit) => (edit.kind === "set-probe-grace" ? [probeEntry(edit)] : [])),
    preStop: replacedHandlers(pod, held),
    chain: chainOf(hooks),
    annotations: replacedAnnotations(annotationsOf(pod), values),
    blank: blankParents(pod, [...changes, { ...placeOf(request), container: {} }], grace),
  };
}

function chainOf(hooks: readonly HookPlan[]): OriginalRecord["chain"] {
  const entries = hooks.flatMap((hook) =>
    hook.kind === "hold" && hook.chained !== undefined ? [[hook.container, hook.chained] as const] : [],
  );
  return Object.fromEntries(entries);
}

function managerOf(
  request: PlanRequest,
  parts: Pick<ManagerMaking, "settings" | "token" | "recordText" | "resources" | "relay">,
): RawObject {
  const { pod, mode, image, injected } = request;
  const { driverUrl } = parts.settings;
  const made = makeManager({
    ...parts,
    native: mode === "native",
    image,
    mount: socketMount(pod, driverUrl),
    user: socketUser(pod, driverUrl),
  });
  const standing = injected?.manager;
  return standing !== undefined && staysInPlace(request) ? renewManager(standing.container, made) : made;
}

function staysInPlace(request: PlanRequest): boolean {
  return request.injected?.manager?.list === placeOf(request).list;
}
