/** Finds the preload library in a Pod: a volume of the manager's image, a mount, a variable. */
import {
  PRELOAD_FOLDER,
  PRELOAD_LIBRARY,
  PRELOAD_VARIABLE,
  PRELOAD_VOLUME,
} from "../../contract/manager-environment.ts";
import { containersOf, nameOf } from "../../kubernetes/pod.ts";
import { isRawObject, listAt, objectAt, type RawObject, textAt } from "../../kubernetes/raw-json.ts";

type Positions = { readonly variable: number; readonly mount: number };

export type ExistingPreload = {
  readonly at: number;
  readonly volume: RawObject;
  readonly positions: ReadonlyMap<string, Positions>;
};

export function findPreload(pod: RawObject): ExistingPreload | undefined {
  const volumes = listAt(objectAt(pod, "spec"), "volumes");
  const at = volumes.findIndex((volume) => isRawObject(volume) && isOurVolume(volume));
  const volume = volumes[at];
  if (!isRawObject(volume)) return undefined;
  const positions = containersOf(pod).flatMap((container) => {
    const mount = listAt(container, "volumeMounts").findIndex(
      (candidate) => isRawObject(candidate) && isOurMount(candidate),
    );
    const variable = listAt(container, "env").findIndex(
      (candidate) => isRawObject(candidate) && loadsOurLibrary(candidate),
    );
    return mount < 0 || variable < 0 ? [] : [[nameOf(container), { variable, mount }] as const];
  });
  return { at, volume, positions: new Map(positions) };
}

export function isOurVolume(volume: RawObject): boolean {
  return volume["name"] === PRELOAD_VOLUME && objectAt(volume, "image") !== undefined;
}

export function isOurMount(mount: RawObject): boolean {
  return mount["name"] === PRELOAD_VOLUME && mount["mountPath"] === PRELOAD_FOLDER;
}

export function loadsOurLibrary(variable: RawObject): boolean {
  const value = variable["name"] === PRELOAD_VARIABLE ? textAt(variable, "value") : undefined;
  return value === PRELOAD_LIBRARY || value?.endsWith(`:${PRELOAD_LIBRARY}`) === true;
}
