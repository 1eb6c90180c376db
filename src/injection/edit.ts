/** Changes to a Pod as data, so that a plan can be printed, compared and applied. */
import type { ContainerList } from "../kubernetes/pod.ts";
import { isRawObject, objectAt, type RawObject } from "../kubernetes/raw-json.ts";

export type ProbeName = "livenessProbe" | "startupProbe";

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
  | { readonly kind: "annotate"; readonly values: Readonly<Record<string, string>> };

/** Ours alone until it is handed out. */
type Copy = { [key: string]: unknown };

/**
 * A changed copy; every part that does not change keeps its identity, so that the diff can pass it over. What many edits
 * change is copied once.
 */
export function applyEdits(pod: RawObject, edits: readonly Edit[]): RawObject {
  const spec: Copy = { ...objectAt(pod, "spec") };
  const changed: Copy = { ...pod, spec };
  for (const edit of edits) {
    if (edit.kind === "annotate") changed["metadata"] = annotated(objectAt(changed, "metadata"), edit.values);
    else editSpec(spec, edit);
  }
  return changed;
}

function annotated(metadata: RawObject | undefined, values: Readonly<Record<string, string>>): RawObject {
  return { ...metadata, annotations: { ...objectAt(metadata, "annotations"), ...values } };
}

function editSpec(spec: Copy, edit: Exclude<Edit, { kind: "annotate" }>): void {
  switch (edit.kind) {
    case "add-manager":
      spec[edit.list] = asList(spec[edit.list]).toSpliced(edit.at, 0, edit.container);
      return;
    case "set-grace":
      spec["terminationGracePeriodSeconds"] = edit.seconds;
      return;
    case "set-pre-stop":
      editContainer(spec, edit.container, (container) => ({
        ...container,
        lifecycle: { ...objectAt(container, "lifecycle"), preStop: edit.handler },
      }));
      return;
    case "set-probe-grace":
      editContainer(spec, edit.container, (container) => ({
        ...container,
        [edit.probe]: { ...objectAt(container, edit.probe), terminationGracePeriodSeconds: edit.seconds },
      }));
      return;
    default:
      unreachable(edit);
  }
}

/** The Pod with one container, of either list, replaced by what `change` makes of it. */
export function changeContainer(pod: RawObject, name: string, change: (container: RawObject) => RawObject): RawObject {
  return changeSpec(pod, (spec) => {
    const changed: Copy = { ...spec };
    editContainer(changed, name, change);
    return changed;
  });
}

function editContainer(spec: Copy, name: string, change: (container: RawObject) => RawObject): void {
  for (const list of ["containers", "initContainers"] as const) {
    const containers = asList(spec[list]);
    const at = containers.findIndex((container) => isRawObject(container) && container["name"] === name);
    const container = containers[at];
    if (!isRawObject(container)) continue;
    spec[list] = containers.with(at, change(container));
    return;
  }
}

export function changeSpec(pod: RawObject, change: (spec: RawObject) => RawObject): RawObject {
  const spec = objectAt(pod, "spec") ?? {};
  const changed = change(spec);
  return changed === spec ? pod : { ...pod, spec: changed };
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function unreachable(edit: never): never {
  throw new Error(`no such edit: ${JSON.stringify(edit)}`);
}
