/** The entries of a release's webhook configuration: those that inject, and those that only check settings. */
import { type LabelSelector, type Labels, selects } from "./label-selector.ts";
import { at, listOf, type Manifest, only } from "./rendering.ts";

export type Entry = {
  readonly name: string;
  readonly namespaceSelector: LabelSelector;
  /** Absent where every object is chosen. */
  readonly objectSelector?: LabelSelector;
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  readonly [field: string]: unknown;
};

export const injectingEntries = (manifests: readonly Manifest[]): readonly Entry[] => entriesAt(manifests, "/mutate");

export const settingsEntries = (manifests: readonly Manifest[]): readonly Entry[] => entriesAt(manifests, "/settings");

function entriesAt(manifests: readonly Manifest[], path: string): readonly Entry[] {
  return listOf<Entry>(only(manifests, "MutatingWebhookConfiguration"), "webhooks").filter(
    (entry) => at(entry, "clientConfig", "service", "path") === path,
  );
}

export function chooses(entry: Entry, namespace: Labels, object: Labels): boolean {
  return selects(entry.namespaceSelector, namespace) && selects(entry.objectSelector ?? {}, object);
}
