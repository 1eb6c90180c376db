/** Defines lint rules and their violations. */
import type { Path } from "../kubernetes/listed-objects.ts";
import type { Located, ManifestSet } from "./manifest-set.ts";

/** SARIF's levels. error: a failure or certain loss of requests; warning: possible loss; note: depends on the app. */
export type Level = "error" | "warning" | "note";

export type Rule = {
  /** Never renamed, since annotations silence rules by it. */
  readonly id: string;
  readonly title: string;
  readonly why: string;
  readonly remedy: string;
  readonly level: Level;
  readonly check: (set: ManifestSet) => readonly Violation[];
};

export type Violation = {
  readonly at: Located;
  /** From the document's root. The field may be missing. */
  readonly path: Path;
  readonly value: unknown;
  readonly message: string;
};
