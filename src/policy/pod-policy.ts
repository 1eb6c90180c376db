/** What a Pod's annotations, its namespace and the cluster decide together, as values. */
import type { DrainedWhen, Preload } from "../contract/drain-settings.ts";
import type { DriverName } from "../contract/driver-table.ts";
import type { ResourcesChoice } from "./resources-codec.ts";

export type ModeChoice = "auto" | "sidecar" | "native" | "classic" | "sleep";
export type DriverChoice = "auto" | DriverName;
type PreStopChoice = "auto" | "keep" | "chain" | "replace";

/** `unset`: the container says none, so the cluster or the image decides. */
export type RunAsUserChoice = "auto" | "unset" | number;

/** What people chose for one Pod. Empty text or list means: not set. */
export type PodPolicy = {
  readonly inject: "enabled" | "disabled";
  readonly mode: ModeChoice;
  readonly drainDelayMs: number;
  readonly deregistrationDelayMs: number;
  readonly drainTimeoutMs: number;
  readonly quietPeriodMs: number;
  readonly drainedWhen: DrainedWhen;
  readonly driver: DriverChoice;
  readonly driverUrl: string;
  readonly drainUrl: string;
  readonly activeUrl: string;
  readonly drainPorts: readonly number[];
  readonly ignorePorts: readonly number[];
  readonly containers: readonly string[];
  readonly preStop: PreStopChoice;
  readonly port: number;
  readonly profile: string;
  readonly resources: ResourcesChoice;
  readonly runAsUser: RunAsUserChoice;
  readonly preload: Preload;
};
