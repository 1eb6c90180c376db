/** An outcome to the answer the API server reads. */
import type { Outcome } from "../injection/outcome.ts";
import type { AdmissionReview } from "../kubernetes/admission.ts";

export function toReview(uid: string, outcome: Outcome): AdmissionReview {
  const warnings = outcome.explanation.problems.map((problem) => problem.message.slice(0, 120));
  const told = warnings.length === 0 ? {} : { warnings };
  const review = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" } as const;
  if (outcome.kind === "refused") {
    return { ...review, response: { uid, allowed: false, status: { code: 422, message: outcome.message }, ...told } };
  }
  if (outcome.kind === "unchanged") return { ...review, response: { uid, allowed: true, ...told } };
  const patch = Buffer.from(JSON.stringify(outcome.patch)).toString("base64");
  return { ...review, response: { uid, allowed: true, patchType: "JSONPatch", patch, ...told } };
}
