/** What will happen when a Pod ends, as moments after the deletion. */
import { criterionOf, isDriverUsed } from "../contract/criterion.ts";
import type { DrainSettings } from "../contract/drain-settings.ts";
import { DRIVER_LIMITS, PRELOAD_LIMIT } from "../contract/driver-limits.ts";
import { type DriverName, driverRow } from "../contract/driver-table.ts";
import { formatDuration } from "../contract/duration.ts";

export type Moment = {
  /** After the Pod was told to end. */
  readonly atMs: number;
  readonly what: string;
};

export function timelineOf(settings: DrainSettings, graceSeconds: number): readonly Moment[] {
  const withdrawnMs = settings.drainDelayMs + settings.deregistrationDelayMs;
  const deadlineMs = withdrawnMs + settings.drainTimeoutMs;
  const app = formatDuration(settings.appGraceMs);
  return [
    { atMs: 0, what: "the Pod is told to end; every hook starts, and the Pod stays in service and accepts everything" },
    ...(settings.deregistrationDelayMs > 0
      ? [{ atMs: settings.drainDelayMs, what: "the drain delay is over; external load balancers get their time" }]
      : []),
    { atMs: withdrawnMs, what: `earliest end of the drain: ${endOf(settings)}; then the containers get SIGTERM` },
    { atMs: deadlineMs, what: `deadline: whatever is still open, the containers get SIGTERM and ${app} of their own` },
    { atMs: graceSeconds * 1_000, what: "the grace period is over: what still runs is killed" },
  ];
}

export function sleepTimeline(sleepMs: number, graceSeconds: number): readonly Moment[] {
  return [
    { atMs: 0, what: "the Pod is told to end; the containers sleep and stay in service" },
    { atMs: sleepMs, what: "the containers get SIGTERM" },
    { atMs: graceSeconds * 1_000, what: "the grace period is over: what still runs is killed" },
  ];
}

function endOf(settings: DrainSettings): string {
  const quiet = formatDuration(settings.quietPeriodMs);
  switch (criterionOf(settings)) {
    case "deadline":
      return "only at the deadline (drained-when: deadline)";
    case "connections":
      return "when no connection is open";
    case "requests":
      return `when the driver has counted no active request for ${quiet}`;
    case "clients":
      return `when the driver has counted no client at the mesh's proxy for ${quiet}`;
    case "quiet":
      return `when traffic has been absent for ${quiet}`;
  }
}

/** `none` also where the manager has no use for the driver: sockets decide then. */
export function workingDriver(settings: DrainSettings): DriverName {
  return isDriverUsed(settings) ? settings.driver : "none";
}

/** `undefined` where every client is sent away. */
export function limitOf(settings: DrainSettings): string | undefined {
  const { name, counted, callsApp: asksApp } = driverRow(workingDriver(settings));
  if (asksApp && settings.drainUrl !== "") return undefined;
  if (counted === "nothing" && settings.preload !== "disabled") return PRELOAD_LIMIT;
  const limit = DRIVER_LIMITS[name];
  return counted === "nothing" ? `${whyUndriven(settings)}, so ${limit}` : limit;
}

function whyUndriven(settings: DrainSettings): string {
  return isDriverUsed(settings)
    ? "No driver is set"
    : `The driver ${settings.driver} only counts clients, which drained-when: connections asks for`;
}

/** The grace period as a sum a person can check. */
export type GraceArithmetic = {
  readonly seconds: number;
  readonly parts: readonly { readonly what: string; readonly seconds: number }[];
};

const MS_PER_SECOND = 1_000;

/** The last part is whatever the injector added beyond the spans: its margin, hooks it performs, and rounding. */
export function graceArithmetic(settings: DrainSettings, graceSeconds: number): GraceArithmetic {
  const parts = [
    { what: "the app's own", seconds: settings.appGraceMs / MS_PER_SECOND },
    { what: "drain delay", seconds: settings.drainDelayMs / MS_PER_SECOND },
    { what: "deregistration delay", seconds: settings.deregistrationDelayMs / MS_PER_SECOND },
    { what: "drain timeout", seconds: settings.drainTimeoutMs / MS_PER_SECOND },
  ];
  const sum = parts.reduce((total, part) => total + part.seconds, 0);
  const rest = Math.round((graceSeconds - sum) * MS_PER_SECOND) / MS_PER_SECOND;
  return { seconds: graceSeconds, parts: [...parts, { what: "margin", seconds: rest }] };
}

export function graceSentence({ seconds, parts }: GraceArithmetic): string {
  const sum = parts.map((part) => `${part.seconds} s ${part.what}`).join(" + ");
  return `${seconds} s = ${sum}`;
}
