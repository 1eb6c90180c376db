/** Derives the manager's settings from policy and Pod, and reports conflicting values. */
import { countsRequests } from "../../contract/criterion.ts";
import {
  DEFAULT_SETTINGS,
  type DrainSettings,
  type KubeletProbe,
  type Preload,
  type Shutdown,
} from "../../contract/drain-settings.ts";
import { type DriverName, driverRow } from "../../contract/driver-table.ts";
import { containersByName, isNativeSidecar, longRunningContainersOf, runsToCompletion } from "../../kubernetes/pod.ts";
import { objectAt, type RawObject, textAt, wholeNumberAt } from "../../kubernetes/raw-json.ts";
import { ANNOTATIONS, FIELDS, type Field, type PodPolicy } from "../../policy/fields.ts";
import type { Problem } from "../../policy/problem.ts";
import { fitDrainTimes, representableMs } from "../hooks/grace.ts";
import { shutsDownGracefully } from "../hooks/graceful-shutdown.ts";
import type { HookPlan } from "../hooks/hook-plan.ts";
import { portNumberOf } from "../mesh/ports.ts";

export type SettingsRequest = {
  readonly pod: RawObject;
  readonly policy: PodPolicy;
  readonly isClassic: boolean;
  readonly port: number;
  readonly driver: DriverName;
  readonly driverUrl: string;
  readonly hooks: readonly HookPlan[];
  readonly originalSeconds: number;
  readonly chainSeconds: number;
  readonly preload: Preload;
};

export function managerSettings(request: SettingsRequest): DrainSettings {
  const { pod, policy, isClassic, port, driver, hooks, originalSeconds } = request;
  const { deregistrationDelayMs, drainTimeoutMs } = policy;
  const drainedPorts = new Set(policy.drainPorts);
  const desired = { drainDelayMs: drainDelayMs(policy, hooks), deregistrationDelayMs, drainTimeoutMs };
  return {
    ...managerFields(policy),
    port,
    ...fitDrainTimes(originalSeconds, desired, request.chainSeconds),
    appGraceMs: representableMs(originalSeconds * 1_000),
    drainedWhen: lacksRequestCount(policy, driver) ? "auto" : policy.drainedWhen,
    driver,
    driverUrl: request.driverUrl,
    ignorePorts: policy.ignorePorts.filter((ignored) => !drainedPorts.has(ignored)),
    hooks: hooks.flatMap((hook) => (hook.kind === "hold" ? [{ container: hook.container, role: hook.role }] : [])),
    kubeletProbes: kubeletProbesOf(pod),
    completes: runsToCompletion(pod),
    classic: isClassic,
    preload: request.preload,
    shutdown: shutdownOf(request),
  };
}

/** A patience that differs from the default was set on purpose, so it also applies to recognised graceful programs. */
function shutdownOf({ pod, policy, hooks }: SettingsRequest): Shutdown {
  if (policy.shutdown !== "auto") return policy.shutdown;
  if (policy.patienceMs !== DEFAULT_SETTINGS.patienceMs) return "abrupt";
  const apps = hooks.filter((hook) => hook.kind === "hold" && hook.role === "app");
  const containers = containersByName(pod);
  const areGraceful = apps.every(({ container }) => {
    const app = containers.get(container);
    return app !== undefined && shutsDownGracefully(app);
  });
  return areGraceful && apps.length > 0 ? "graceful" : "auto";
}

const MANAGER_FIELDS = FIELDS.filter((field) => ANNOTATIONS[field].manager !== undefined);

function managerFields(
  policy: PodPolicy,
): Pick<PodPolicy, Extract<Field, keyof DrainSettings>> & Omit<DrainSettings, Field> {
  const settings: Partial<Record<keyof DrainSettings | Field, unknown>> = { ...DEFAULT_SETTINGS };
  for (const field of MANAGER_FIELDS) settings[field] = policy[field];
  return settings as never;
}

/** Returns at least the duration of the longest replaced sleep hook. */
export function drainDelayMs(policy: PodPolicy, hooks: readonly HookPlan[]): number {
  const sleepsMs = hooks.map((hook) => (hook.kind === "hold" ? hook.replacedSleepSeconds * 1_000 : 0));
  return Math.max(policy.drainDelayMs, ...sleepsMs);
}

export function conflictProblems(request: SettingsRequest, settings: DrainSettings, where: string): readonly Problem[] {
  const { policy, driver } = request;
  const messages: string[] = [];
  const { callsApp, reachesUnixSockets, defaultUrls } = driverRow(driver);
  const [usualUrl] = defaultUrls;
  const drainedPorts = new Set(policy.drainPorts);
  const inBothLists = policy.ignorePorts.filter((port) => drainedPorts.has(port));
  if (inBothLists.length > 0)
    messages.push(
      `lastcall.dev/drain-ports and lastcall.dev/ignore-ports both contain ${portListText(inBothLists)}; drain-ports applies.`,
    );
  if (lacksRequestCount(policy, driver))
    messages.push(
      "lastcall.dev/drained-when: requests requires a driver that counts requests; auto is used. Set lastcall.dev/driver.",
    );
  if (callsApp && policy.drainUrl === "" && policy.activeUrl === "")
    messages.push(
      `lastcall.dev/driver: ${driver} has no effect. Set lastcall.dev/drain-url or lastcall.dev/active-url.`,
    );
  if (usualUrl !== undefined && !reachesUnixSockets && settings.driverUrl.startsWith("unix:"))
    messages.push(
      `lastcall.dev/driver-url is a Unix socket, which driver ${driver} does not support; samples of the sockets determine the end of the drain. ` +
        `Set an address such as ${usualUrl}.`,
    );
  if (settings.drainTimeoutMs < policy.drainTimeoutMs)
    messages.push("lastcall.dev/drain-timeout is reduced, because the grace period would exceed 2147483647 s.");
  return messages.map((message) => ({ code: "conflicting_values", where, message }));
}

function portListText(ports: readonly number[]): string {
  return ports.length > SHOWN_PORTS_LIMIT
    ? `${ports.slice(0, SHOWN_PORTS_LIMIT).join(", ")}, and more`
    : ports.join(", ");
}

const SHOWN_PORTS_LIMIT = 8;

function lacksRequestCount(policy: PodPolicy, driver: DriverName): boolean {
  return policy.drainedWhen === "requests" && !countsRequests(driver, policy.activeUrl);
}

const DEFAULT_PERIOD_SECONDS = 10;

/**
 * Returns the probes that continue while the Pod terminates, one entry per probe, because two probes of one port connect twice as
 * often. When a Pod terminates, the kubelet stops the liveness and startup probes of regular containers
 * (`StopLivenessAndStartup`), but not the liveness probes of native sidecars.
 */
export function kubeletProbesOf(pod: RawObject): readonly KubeletProbe[] {
  return longRunningContainersOf(pod).flatMap((container) => [
    ...(isNativeSidecar(container) ? probeOf(container, objectAt(container, "livenessProbe")) : []),
    ...probeOf(container, objectAt(container, "readinessProbe")),
  ]);
}

function probeOf(container: RawObject, probe: RawObject | undefined): readonly KubeletProbe[] {
  const action = objectAt(probe, "httpGet") ?? objectAt(probe, "tcpSocket") ?? objectAt(probe, "grpc");
  // A probe with a host is skipped, because it does not connect to this Pod.
  if (action === undefined || (textAt(action, "host") ?? "") !== "") return [];
  const port = portNumberOf(container, action["port"]);
  if (port === undefined) return [];
  const periodSeconds = wholeNumberAt(probe, "periodSeconds") ?? 0;
  return [{ port, periodMs: representableMs((periodSeconds > 0 ? periodSeconds : DEFAULT_PERIOD_SECONDS) * 1_000) }];
}
