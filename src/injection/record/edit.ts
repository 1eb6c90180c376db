/** Defines changes to a Pod as data, applies them, and records empty values (such as `{}` or null) that they replace. */
import { type ContainerList, containersByName, nameOf } from "../../kubernetes/pod.ts";
import { isRawObject, objectAt, type RawObject, withoutKey } from "../../kubernetes/raw-json.ts";
import type { EmptyParent, OriginalRecord } from "./original-record.ts";

export type ProbeName = "livenessProbe" | "startupProbe";

type PlacedEntry = { readonly at: number; readonly entry: RawObject };

export type Edit =
  | {
      readonly kind: "add-manager";
      readonly list: ContainerList;
      readonly at: number;
      readonly container: RawObject;
    }
  | { readonly kind: "set-pre-stop"; readonly container: string; readonly handler: RawObject }
  | { readonly kind: "set-grace"; readonly seconds: number }
  | {
      readonly kind: "set-probe-grace";
      readonly container: string;
      readonly probe: ProbeName;
      readonly seconds: number;
    }
  | { readonly kind: "add-volume"; readonly at: number; readonly volume: RawObject }
  | {
      readonly kind: "load-library";
      readonly container: string;
      readonly variable: PlacedEntry & { readonly replacesEntry: boolean };
      readonly mount: PlacedEntry;
    }
  /** Names of secrets that the Pod does not have yet. */
  | { readonly kind: "add-pull-secrets"; readonly names: readonly string[] }
  | { readonly kind: "annotate"; readonly values: Readonly<Record<string, string>> };

type ContainerEdit = Extract<Edit, { readonly container: string }>;

type MutableObject = { [key: string]: unknown };

/**
 * Returns a changed copy. Unchanged parts keep their identity, so the diff skips them. Traverses each list of containers
 * once.
 */
export function applyEdits(pod: RawObject, edits: readonly Edit[]): RawObject {
  const editsByContainer = new Map<string, ContainerEdit[]>();
  for (const edit of edits.filter(isContainerEdit)) {
    const previous = editsByContainer.get(edit.container);
    if (previous === undefined) editsByContainer.set(edit.container, [edit]);
    else previous.push(edit);
  }
  const spec: MutableObject = { ...objectAt(pod, "spec") };
  changeLists(
    spec,
    (container) => editsByContainer.get(nameOf(container))?.reduce(applyContainerEdit, container) ?? container,
  );
  const changed: MutableObject = { ...pod, spec };
  for (const edit of edits) {
    if (edit.kind === "add-manager") spec[edit.list] = asList(spec[edit.list]).toSpliced(edit.at, 0, edit.container);
    if (edit.kind === "set-grace") spec["terminationGracePeriodSeconds"] = edit.seconds;
    if (edit.kind === "add-volume") spec["volumes"] = asList(spec["volumes"]).toSpliced(edit.at, 0, edit.volume);
    if (edit.kind === "add-pull-secrets")
      spec["imagePullSecrets"] = [...asList(spec["imagePullSecrets"]), ...edit.names.map((name) => ({ name }))];
    if (edit.kind === "annotate") changed["metadata"] = withAnnotations(objectAt(changed, "metadata"), edit.values);
  }
  return changed;
}

function isContainerEdit(edit: Edit): edit is ContainerEdit {
  return edit.kind === "set-pre-stop" || edit.kind === "set-probe-grace" || edit.kind === "load-library";
}

function withAnnotations(metadata: RawObject | undefined, values: Readonly<Record<string, string>>): RawObject {
  return { ...metadata, annotations: { ...objectAt(metadata, "annotations"), ...values } };
}

function applyContainerEdit(container: RawObject, edit: ContainerEdit): RawObject {
  if (edit.kind === "set-pre-stop")
    return { ...container, lifecycle: { ...objectAt(container, "lifecycle"), preStop: edit.handler } };
  if (edit.kind === "load-library") {
    const { variable, mount } = edit;
    return {
      ...container,
      env: asList(container["env"]).toSpliced(variable.at, variable.replacesEntry ? 1 : 0, variable.entry),
      volumeMounts: asList(container["volumeMounts"]).toSpliced(mount.at, 0, mount.entry),
    };
  }
  const probe = { ...objectAt(container, edit.probe), terminationGracePeriodSeconds: edit.seconds };
  return { ...container, [edit.probe]: probe };
}

export function changeContainers(pod: RawObject, change: (container: RawObject) => RawObject): RawObject {
  return changeSpec(pod, (spec) => {
    const changed: MutableObject = { ...spec };
    return changeLists(changed, change) ? changed : spec;
  });
}

/** @returns whether anything changed; an unchanged list keeps its identity */
function changeLists(spec: MutableObject, change: (container: RawObject) => RawObject): boolean {
  let isChanged = false;
  for (const list of ["containers", "initContainers"] as const) {
    const before = asList(spec[list]);
    const after = before.map((container) => (isRawObject(container) ? change(container) : container));
    if (after.every((container, at) => container === before[at])) continue;
    spec[list] = after;
    isChanged = true;
  }
  return isChanged;
}

export function changeSpec(pod: RawObject, change: (spec: RawObject) => RawObject): RawObject {
  const spec = objectAt(pod, "spec") ?? {};
  const changed = change(spec);
  return changed === spec ? pod : { ...pod, spec: changed };
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the replaced empty values by the keys of `OriginalRecord.empty`; omits the grace period if the Pod had set it. */
export function emptyParents(
  pod: RawObject,
  edits: readonly Edit[],
  grace: OriginalRecord["grace"],
): OriginalRecord["empty"] {
  const containers = containersByName(pod);
  const relevantEdits = grace === null ? edits : edits.filter(({ kind }) => kind !== "set-grace");
  return Object.fromEntries(relevantEdits.flatMap((edit) => emptyParentsOf(pod, containers, edit)));
}

function emptyParentsOf(
  pod: RawObject,
  containers: ReadonlyMap<unknown, RawObject>,
  edit: Edit,
): readonly (readonly [string, EmptyParent])[] {
  const spec = objectAt(pod, "spec");
  switch (edit.kind) {
    case "add-manager":
      return emptyParentAt(edit.list, spec, edit.list);
    case "set-grace":
      return emptyParentAt("grace", spec, "terminationGracePeriodSeconds");
    case "add-volume":
      return emptyParentAt("volumes", spec, "volumes");
    case "load-library": {
      const container = containers.get(edit.container);
      return [
        ...emptyParentAt(`env/${edit.container}`, container, "env"),
        ...emptyParentAt(`volumeMounts/${edit.container}`, container, "volumeMounts"),
      ];
    }
    case "add-pull-secrets":
      return emptyParentAt("imagePullSecrets", spec, "imagePullSecrets");
    case "set-pre-stop":
      return emptyParentAt(`lifecycle/${edit.container}`, containers.get(edit.container), "lifecycle");
    case "set-probe-grace": {
      const probe = objectAt(containers.get(edit.container), edit.probe);
      return emptyParentAt(probeEntry(edit), probe, "terminationGracePeriodSeconds");
    }
    case "annotate": {
      const metadata = objectAt(pod, "metadata");
      return [...emptyParentAt("metadata", pod, "metadata"), ...emptyParentAt("annotations", metadata, "annotations")];
    }
  }
}

export function probeEntry(edit: Extract<Edit, { kind: "set-probe-grace" }>): string {
  return `${edit.container}/${edit.probe === "livenessProbe" ? "liveness" : "startup"}`;
}

export function emptyParentAt(
  name: string,
  parent: RawObject | undefined,
  key: string,
): readonly (readonly [string, EmptyParent])[] {
  if (parent === undefined || !Object.hasOwn(parent, key)) return [];
  const value = parent[key];
  if (value === null) return [[name, null]];
  if (Array.isArray(value)) return value.length === 0 ? [[name, []]] : [];
  return isRawObject(value) && Object.keys(value).length === 0 ? [[name, {}]] : [];
}

/** Removes the key, or restores its recorded empty value. */
export function restoreEmptyParent(parent: RawObject, key: string, record: OriginalRecord, name: string): RawObject {
  if (!Object.hasOwn(record.empty, name)) return withoutKey(parent, key);
  return { ...parent, [key]: record.empty[name] };
}
