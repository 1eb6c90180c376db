/** Reads the webhook entries of a release: those that inject, and those that only check settings. */
import { at, listOf, type Manifest, onlyOfKind } from "./rendering.ts";

export type Labels = Readonly<Record<string, string>>;

type LabelSelector = {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
};

export type Entry = {
  readonly name: string;
  readonly namespaceSelector: LabelSelector;
  /** Absent if every object is selected. */
  readonly objectSelector?: LabelSelector;
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  readonly [field: string]: unknown;
};

export const injectingEntries = (manifests: readonly Manifest[]): readonly Entry[] => entriesAt(manifests, "/mutate");

export const settingsEntries = (manifests: readonly Manifest[]): readonly Entry[] => entriesAt(manifests, "/settings");

function entriesAt(manifests: readonly Manifest[], path: string): readonly Entry[] {
  return listOf<Entry>(onlyOfKind(manifests, "MutatingWebhookConfiguration"), "webhooks").filter(
    (entry) => at(entry, "clientConfig", "service", "path") === path,
  );
}

export function selectsObject(entry: Entry, namespace: Labels, object: Labels): boolean {
  return selects(entry.namespaceSelector, namespace) && selects(entry.objectSelector ?? {}, object);
}

/** Evaluates a selector as the API server does. @throws on an unknown operator, so that a typo in the chart fails the test */
export function selects(selector: LabelSelector, labels: Labels): boolean {
  const hasLabels = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return (
    hasLabels &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === "In") return value !== undefined && values.includes(value);
      if (operator === "NotIn") return value === undefined || !values.includes(value);
      if (operator === "Exists") return value !== undefined;
      if (operator === "DoesNotExist") return value === undefined;
      throw new Error(`there is no operator ${operator}`);
    })
  );
}
