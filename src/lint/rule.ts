/** Defines lint rules and their violations. */
import type { Path } from "../kubernetes/listed-objects.ts";
import type { LocatedObject, ManifestSet } from "./manifest-set.ts";

/** SARIF's levels. error: a failure or certain loss of requests; warning: possible loss; note: depends on the app. */
export type Level = "error" | "warning" | "note";

export type Rule = {
  /** Never changed, because annotations silence rules by id. */
  readonly id: string;
  readonly title: string;
  readonly why: string;
  readonly remedy: string;
  readonly level: Level;
  readonly check: (set: ManifestSet) => readonly Violation[];
};

export type Violation = {
  readonly at: LocatedObject;
  /** Path of the field from the document's root. The field may be missing. */
  readonly path: Path;
  readonly value: unknown;
  readonly message: string;
};
