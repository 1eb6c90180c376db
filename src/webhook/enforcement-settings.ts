/** The settings of failing closed, and which of them go together. */
import { isNamespaceName, LABEL_LIST_EXPECTS, type Labels, parseLabelList } from "../kubernetes/names.ts";
import { nameSetting, type Setting, type SettingProblem } from "./setting-kinds.ts";

export type EnforcementSettings = {
  /** MutatingWebhookConfiguration that is filled once injection is proven; empty: Pods are let in while no webhook answers. */
  readonly enforceConfiguration: string;
  /** The one whose entries it copies. */
  readonly enforceCopies: string;
  readonly proofNamespace: string;
  readonly proofLabels: Labels;
};

export const ENFORCEMENT_SETTINGS: { readonly [K in keyof EnforcementSettings]: Setting<EnforcementSettings[K]> } = {
  enforceConfiguration: nameSetting(
    "enforce-configuration",
    "",
    "MutatingWebhookConfiguration to fill with entries that refuse Pods while no webhook answers, once injection is proven",
  ),
  enforceCopies: nameSetting(
    "enforce-copies",
    "",
    "MutatingWebhookConfiguration whose entries --enforce-configuration gets",
  ),
  proofNamespace: {
    flag: "proof-namespace",
    shows: "NAME",
    fallback: "default",
    fallbackShows: "default",
    expects: "a namespace name, lower-case letters, digits and -",
    summary: "where dry-run Pods prove that injection works",
    parse: (text) => (isNamespaceName(text) ? text : undefined),
  },
  proofLabels: {
    flag: "proof-labels",
    shows: "LABELS",
    fallback: {},
    fallbackShows: "none but the one that opts in",
    expects: LABEL_LIST_EXPECTS,
    summary: "labels of those Pods",
    parse: parseLabelList,
  },
};

/** What of it does not go together. */
export function enforcementProblems({
  enforceConfiguration,
  enforceCopies,
}: EnforcementSettings): readonly SettingProblem[] {
  const where = "--enforce-configuration";
  if ((enforceConfiguration === "") !== (enforceCopies === ""))
    return [{ where, message: "It and --enforce-copies are given together, or neither is." }];
  if (enforceConfiguration !== "" && enforceConfiguration === enforceCopies)
    return [{ where, message: "It is also --enforce-copies; these are two objects." }];
  return [];
}
