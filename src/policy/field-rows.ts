/** Declares the rows of the field table: settings that users set, and settings of the manager that are derived from the Pod. */
import type { Codec } from "./codecs.ts";

/** Places where a value can be set; the place nearest to the Pod wins. */
export type Scope = "pod" | "namespace" | "cluster";

/** The form and type of a value that is a flag of the manager. */
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
  /** `when-set`: the flag is written only if the value is set. Default: always written, so that `kubectl describe` shows it. */
  readonly writeCondition?: "when-set";
  /** Comment in the manager's source, if it differs from the summary. */
  readonly comment?: string;
};

export type Row<T> = {
  /** The annotation without `lastcall.dev/`; also the name of the manager's flag. */
  readonly name: string;
  readonly codec: Codec<T>;
  readonly fallback: T;
  readonly fallbackDescription?: string;
  readonly scopes: readonly Scope[];
  readonly summary: string;
  /** Only for settings that the manager reads. `fallback`: the manager's default, if it differs from the setting's. */
  readonly manager?: ManagerFlag & { readonly fallback?: string };
};

export type DerivedRow = ManagerFlag & {
  readonly name: string;
  readonly comment: string;
  readonly fallback: number | string | boolean | readonly never[];
};

const EVERYWHERE: readonly Scope[] = ["pod", "namespace", "cluster"];

type SettingInput<T> = Omit<Row<T>, "fallback" | "scopes"> & {
  readonly fallback: NoInfer<T>;
  /** Default: `EVERYWHERE`. */
  readonly scopes?: readonly Scope[];
};

export function setting<T>(row: SettingInput<T>): Row<T> {
  return { scopes: EVERYWHERE, ...row };
}

/** Flags for durations are always written, other flags only if the value is set. */
export function derived(name: string, kind: FlagKind, fallback: DerivedRow["fallback"], comment: string): DerivedRow {
  return { name, kind, fallback, comment, ...(kind === "duration" ? {} : { writeCondition: "when-set" }) };
}
