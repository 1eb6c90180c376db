/** What a rule is, and what it finds. */
import type { Path } from "../kubernetes/listed-objects.ts";
import type { Located, ManifestSet } from "./manifest-set.ts";

/** As SARIF has them. error: it fails, or requests are lost for certain; warning: they are at risk; note: it depends. */
export type Level = "error" | "warning" | "note";

export type Rule = {
  /** Never renamed: people silence rules by it. */
  readonly id: string;
  readonly title: string;
  readonly why: string;
  readonly remedy: string;
  readonly level: Level;
  readonly check: (set: ManifestSet) => readonly Violation[];
};

/** One place that breaks a rule. */
export type Violation = {
  readonly at: Located;
  /** From the document's root. The field may be missing: that is often what is wrong. */
  readonly path: Path;
  /** What stands there; `undefined` when nothing does. */
  readonly value: unknown;
  /** A sentence about this place. */
  readonly message: string;
};
