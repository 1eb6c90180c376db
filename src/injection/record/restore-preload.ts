/** Takes the library out of a Pod again, as far as it stands there as injection wrote it. */
import { PRELOAD_LIBRARY } from "../../contract/manager-environment.ts";
import { nameOf } from "../../kubernetes/pod.ts";
import { isRawObject, listAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";
import { changeContainers, changeSpec } from "./edit.ts";
import { restoreEmptyParent } from "./empty-parent.ts";
import type { ExistingInjection } from "./existing-injection.ts";
import type { OriginalRecord } from "./original-record.ts";
import { isOurMount, isOurVolume, loadsOurs } from "./preload-in-pod.ts";

export function restorePreload(pod: RawObject, { preload, record }: ExistingInjection): RawObject {
  if (preload === undefined) return pod;
  const unloaded = changeContainers(pod, (container) =>
    preload.places.has(nameOf(container)) ? withoutLibrary(container, record) : container,
  );
  return changeSpec(unloaded, (spec) => {
    const rest = listAt(spec, "volumes").filter((volume) => !isRawObject(volume) || !isOurVolume(volume));
    return withList(spec, "volumes", rest, record, "volumes");
  });
}

function withoutLibrary(container: RawObject, record: OriginalRecord): RawObject {
  const name = nameOf(container);
  const env = listAt(container, "env").flatMap((variable): readonly unknown[] =>
    isRawObject(variable) && loadsOurs(variable) ? withoutOurs(variable) : [variable],
  );
  const mounts = listAt(container, "volumeMounts").filter((mount) => !isRawObject(mount) || !isOurMount(mount));
  const unset = withList(container, "env", env, record, `env/${name}`);
  return withList(unset, "volumeMounts", mounts, record, `volumeMounts/${name}`);
}

function withoutOurs(variable: RawObject): readonly RawObject[] {
  const value = textAt(variable, "value") ?? "";
  return value === PRELOAD_LIBRARY ? [] : [{ ...variable, value: value.slice(0, -`:${PRELOAD_LIBRARY}`.length) }];
}

function withList(
  parent: RawObject,
  key: string,
  rest: readonly unknown[],
  record: OriginalRecord,
  name: string,
): RawObject {
  return rest.length > 0 ? { ...parent, [key]: rest } : restoreEmptyParent(parent, key, record, name);
}
