/** Computes the expected shutdown of a Pod, as moments after its deletion, and its grace period as a sum. */
import { criterionOf, isDriverUsed, patienceMsOf } from "../contract/criterion.ts";
import type { DrainSettings } from "../contract/drain-settings.ts";
import { DRIVER_LIMITS, GRACEFUL_LIMIT, PRELOAD_LIMIT } from "../contract/driver-limits.ts";
import { type DriverName, driverRow } from "../contract/driver-table.ts";
import { formatDuration } from "../contract/duration.ts";

export type Moment = {
  readonly atMs: number;
  readonly what: string;
};

export function expectedShutdown(settings: DrainSettings, graceSeconds: number): readonly Moment[] {
  const withdrawnMs = settings.drainDelayMs + settings.deregistrationDelayMs;
  const deadlineMs = withdrawnMs + settings.drainTimeoutMs;
  const appGraceText = formatDuration(settings.appGraceMs);
  return [
    { atMs: 0, what: "the Pod is deleted; every preStop hook starts, and the Pod keeps serving new connections" },
    ...(settings.deregistrationDelayMs > 0
      ? [
          {
            atMs: settings.drainDelayMs,
            what: "the drain delay ends; the deregistration delay for external load balancers starts",
          },
        ]
      : []),
    {
      atMs: withdrawnMs,
      what: `earliest end of the drain: ${drainEndText(settings)}; then the containers get SIGTERM`,
    },
    ...handOverMoment(settings, withdrawnMs),
    {
      atMs: deadlineMs,
      what: `deadline: the containers get SIGTERM even with open connections, and have ${appGraceText} to stop`,
    },
    { atMs: graceSeconds * 1_000, what: "the grace period ends: running containers are killed" },
  ];
}

function handOverMoment(settings: DrainSettings, withdrawnMs: number): readonly Moment[] {
  const patienceMs = patienceMsOf(settings);
  if (criterionOf(settings) !== "quiet" || patienceMs === 0 || patienceMs >= settings.drainTimeoutMs) return [];
  const patienceEndText = "end of the patience: the drain no longer waits for clients that only keep sending requests";
  // The patience ends early if no connection was reset when earlier Pods stopped. Only the relay has a record of those Pods.
  const what =
    settings.shutdown === "auto"
      ? `${patienceEndText} (the patience is 0 after three Pods of the workload that did not reset a connection when they stopped)`
      : patienceEndText;
  return [{ atMs: withdrawnMs + patienceMs, what }];
}

export function sleepModeShutdown(sleepMs: number, graceSeconds: number): readonly Moment[] {
  return [
    { atMs: 0, what: "the Pod is deleted; the preStop hooks sleep, and the Pod keeps serving" },
    { atMs: sleepMs, what: "the containers get SIGTERM" },
    { atMs: graceSeconds * 1_000, what: "the grace period ends: running containers are killed" },
  ];
}

function drainEndText(settings: DrainSettings): string {
  const quietText = formatDuration(settings.quietPeriodMs);
  switch (criterionOf(settings)) {
    case "deadline":
      return "only at the deadline (drained-when: deadline)";
    case "connections":
      return "when no connection is open";
    case "requests":
      return `when the driver has counted no active request for ${quietText}`;
    case "clients":
      return `when the driver has counted no client at the mesh's proxy for ${quietText}`;
    case "quiet":
      return patienceMsOf(settings) === 0
        ? `when traffic has been absent for ${quietText}, except from clients that keep sending requests (the app finishes these requests)`
        : `when traffic has been absent for ${quietText}`;
  }
}

/** @returns `none` also if the criterion does not use the driver, because the end of the drain then depends on sockets */
export function effectiveDriver(settings: DrainSettings): DriverName {
  return isDriverUsed(settings) ? settings.driver : "none";
}

export function driverLimit(settings: DrainSettings): string | undefined {
  const { name, countedUnit, callsApp } = driverRow(effectiveDriver(settings));
  if (callsApp && settings.drainUrl !== "") return undefined;
  if (countedUnit === "nothing" && settings.preload !== "disabled") return PRELOAD_LIMIT;
  if (countedUnit === "nothing" && patienceMsOf(settings) === 0)
    return `${noDriverReason(settings)}, so ${GRACEFUL_LIMIT}`;
  const limit = DRIVER_LIMITS[name];
  return countedUnit === "nothing" ? `${noDriverReason(settings)}, so ${limit}` : limit;
}

function noDriverReason(settings: DrainSettings): string {
  return isDriverUsed(settings)
    ? "No driver is set"
    : `The driver ${settings.driver} counts only connected clients and is used only with drained-when: connections`;
}

export type GraceArithmetic = {
  readonly seconds: number;
  readonly parts: readonly { readonly what: string; readonly seconds: number }[];
};

const MS_PER_SECOND = 1_000;

/** The part "margin" is the rest of the grace period: the injector's margin, chained hooks and rounding. */
export function graceArithmetic(settings: DrainSettings, graceSeconds: number): GraceArithmetic {
  const parts = [
    { what: "app grace", seconds: settings.appGraceMs / MS_PER_SECOND },
    { what: "drain delay", seconds: settings.drainDelayMs / MS_PER_SECOND },
    { what: "deregistration delay", seconds: settings.deregistrationDelayMs / MS_PER_SECOND },
    { what: "drain timeout", seconds: settings.drainTimeoutMs / MS_PER_SECOND },
  ];
  const knownSeconds = parts.reduce((total, part) => total + part.seconds, 0);
  const marginSeconds = Math.round((graceSeconds - knownSeconds) * MS_PER_SECOND) / MS_PER_SECOND;
  return { seconds: graceSeconds, parts: [...parts, { what: "margin", seconds: marginSeconds }] };
}

export function graceSentence({ seconds, parts }: GraceArithmetic): string {
  const sumText = parts.map((part) => `${part.seconds} s ${part.what}`).join(" + ");
  return `${seconds} s = ${sumText}`;
}
