/** The rows of the field table: a setting that people write, and one of the manager that follows from the Pod. */
import type { Codec } from "./codecs.ts";

/** Where a value can be written; a nearer scope wins. Namespace opt-in is a label, read by selectors. */
export type Scope = "pod" | "namespace" | "cluster";

/** How a value is written as a flag of the manager, and which type it has there. */
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
  /** Only where it is set; others always are, because people look for them in `kubectl describe`. */
  readonly written?: "when-set";
  /** For the manager's source, where the summary does not fit. */
  readonly doc?: string;
};

export type Row<T> = {
  /** The part after the prefix; also the manager's flag. */
  readonly name: string;
  readonly codec: Codec<T>;
  readonly fallback: T;
  /** The default in words, where the value itself would say nothing. */
  readonly fallbackShows?: string;
  readonly scopes: readonly Scope[];
  /** One sentence for the reference, present tense. */
  readonly summary: string;
  /** Where the manager reads it. `fallback`: where its default is another one. */
  readonly manager?: ManagerFlag & { readonly fallback?: string };
};

/** A setting of the manager that follows from the Pod. */
export type DerivedRow = ManagerFlag & {
  readonly name: string;
  readonly doc: string;
  readonly fallback: number | string | boolean | readonly never[];
};

const EVERYWHERE: readonly Scope[] = ["pod", "namespace", "cluster"];

type Written<T> = Omit<Row<T>, "fallback" | "scopes"> & {
  readonly fallback: NoInfer<T>;
  /** Everywhere where it is absent. */
  readonly scopes?: readonly Scope[];
};

export function setting<T>(row: Written<T>): Row<T> {
  return { scopes: EVERYWHERE, ...row };
}

/** Written only where it is set, unless it is a duration. */
export function derived(name: string, kind: FlagKind, fallback: DerivedRow["fallback"], doc: string): DerivedRow {
  return { name, kind, fallback, doc, ...(kind === "duration" ? {} : { written: "when-set" }) };
}
