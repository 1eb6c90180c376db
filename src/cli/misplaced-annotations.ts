/** Annotations people put on a workload itself, where no Pod inherits them. */
import type { PodPlace } from "../kubernetes/pod-template.ts";
import { PREFIX } from "../policy/annotation-table.ts";
import type { Problem } from "../policy/problem.ts";
import { quote } from "../policy/quote.ts";

export function misplacedAnnotations({ owner, ownerAnnotations }: PodPlace): readonly Problem[] {
  const names = Object.keys(ownerAnnotations).filter((name) => name.startsWith(PREFIX));
  return names.map((name) => ({
    code: "wrong_scope",
    where: owner,
    message: `${quote(name)} has no effect on the workload; set it on its Pod template.`,
  }));
}
