/** Changes to a Pod as data, so that a plan can be printed, compared and applied. */
import type { ContainerList } from "../kubernetes/pod.ts";
import { isRawObject, objectAt, type RawObject, valueAt } from "../kubernetes/raw-json.ts";

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

/** A changed copy; every part that does not change keeps its identity, so that the diff can pass it over. */
export function applyEdit(pod: RawObject, edit: Edit): RawObject {
  switch (edit.kind) {
    case "add-manager":
      return changeSpec(pod, (spec) => {
        const list = asList(valueAt(spec, edit.list));
        return { ...spec, [edit.list]: [...list.slice(0, edit.at), edit.container, ...list.slice(edit.at)] };
      });
    case "set-pre-stop":
      return changeContainer(pod, edit.container, (container) => ({
        ...container,
        lifecycle: { ...objectAt(container, "lifecycle"), preStop: edit.handler },
      }));
    case "set-grace":
      return changeSpec(pod, (spec) => ({ ...spec, terminationGracePeriodSeconds: edit.seconds }));
    case "set-probe-grace":
      return changeContainer(pod, edit.container, (container) => ({
        ...container,
        [edit.probe]: { ...objectAt(container, edit.probe), terminationGracePeriodSeconds: edit.seconds },
      }));
    case "annotate": {
      const metadata = objectAt(pod, "metadata");
      const annotations = { ...objectAt(metadata, "annotations"), ...edit.values };
      return { ...pod, metadata: { ...metadata, annotations } };
    }
    default:
      return unreachable(edit);
  }
}

/** The Pod with one container, of either list, replaced by what `change` makes of it. */
export function changeContainer(pod: RawObject, name: string, change: (container: RawObject) => RawObject): RawObject {
  return changeSpec(pod, (spec) => {
    for (const list of ["containers", "initContainers"] as const) {
      const containers = asList(valueAt(spec, list));
      const at = containers.findIndex((container) => isRawObject(container) && container["name"] === name);
      const container = containers[at];
      if (isRawObject(container)) return { ...spec, [list]: containers.with(at, change(container)) };
    }
    return spec;
  });
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
