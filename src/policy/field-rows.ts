/** Types of the rows in the field table: settings of users, and settings of the manager that are derived from the Pod. */
import type { Codec } from "./codecs.ts";

/** Places where a value can be set; the nearest wins. */
export type Scope = "pod" | "namespace" | "cluster";

/** Form and type of a value as a flag of the manager. */
export type FlagKind =
  | "duration"
  | "port"
  | "ports"
  | "text"
  | "choice"
  | "driver"
  | "address"
  | "hooks"
  | "probes"
  | "switch";

export type ManagerFlag = {
  readonly kind: FlagKind;
  /** Other flags are always written, for readers of `kubectl describe`. */
  readonly written?: "when-set";
  /** Comment in the manager's source, where it differs from the summary. */
  readonly doc?: string;
};

export type Row<T> = {
  /** Without the prefix; also the manager's flag. */
  readonly name: string;
  readonly codec: Codec<T>;
  readonly fallback: T;
  readonly fallbackShows?: string;
  readonly scopes: readonly Scope[];
  readonly summary: string;
  /** Set for settings that the manager reads. `fallback`: the manager's default, where it differs. */
  readonly manager?: ManagerFlag & { readonly fallback?: string };
};

export type DerivedRow = ManagerFlag & {
  readonly name: string;
  readonly doc: string;
  readonly fallback: number | string | boolean | readonly never[];
};

const EVERYWHERE: readonly Scope[] = ["pod", "namespace", "cluster"];

type Written<T> = Omit<Row<T>, "fallback" | "scopes"> & {
  readonly fallback: NoInfer<T>;
  /** Default: everywhere. */
  readonly scopes?: readonly Scope[];
};

export function setting<T>(row: Written<T>): Row<T> {
  return { scopes: EVERYWHERE, ...row };
}

/** Durations are always written as flags, others only when set. */
export function derived(name: string, kind: FlagKind, fallback: DerivedRow["fallback"], doc: string): DerivedRow {
  return { name, kind, fallback, doc, ...(kind === "duration" ? {} : { written: "when-set" }) };
}
