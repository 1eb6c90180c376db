/** Reverts an injection, except for values that other programs changed later. */
import { PRELOAD_LIBRARY } from "../../contract/manager-environment.ts";
import { annotationsOf, containersOf, DEFAULT_GRACE_SECONDS, nameOf } from "../../kubernetes/pod.ts";
import {
  isRawObject,
  listAt,
  objectAt,
  type RawObject,
  textAt,
  valueAt,
  withoutKey,
} from "../../kubernetes/raw-json.ts";
import { STATUS_ANNOTATION } from "../../policy/fields.ts";
import { DEFAULT_CONTAINER, defaultContainerOf } from "../mesh/mesh.ts";
import { isOurExclusion } from "../mesh/ports.ts";
import { changeContainers, changeSpec, type ProbeName, restoreEmptyParent } from "./edit.ts";
import type { ExistingInjection } from "./existing-injection.ts";
import type { OriginalRecord } from "./original-record.ts";
import { isOurMount, isOurVolume, loadsOurLibrary } from "./preload-in-pod.ts";

export function restorePod(pod: RawObject, existing: ExistingInjection): RawObject {
  const steps: readonly ((pod: RawObject) => RawObject)[] = [
    (p) => restoreProbes(p, existing.record),
    (p) => restoreHooks(p, existing),
    (p) => restoreGrace(p, existing),
    (p) => restorePreload(p, existing),
    (p) => restorePullSecrets(p, existing.record),
    (p) => restoreAnnotations(p, existing),
    (p) => removeManager(p, existing),
  ];
  return steps.reduce((restored, step) => step(restored), pod);
}

function removeManager(pod: RawObject, { manager, record }: ExistingInjection): RawObject {
  if (manager === undefined) return pod;
  return changeSpec(pod, (spec) => {
    const list = valueAt(spec, manager.list);
    const rest = Array.isArray(list) ? list.filter((container) => container !== manager.container) : [];
    if (rest.length > 0) return { ...spec, [manager.list]: rest };
    return restoreEmptyParent(spec, manager.list, record, manager.list);
  });
}

function restoreHooks(pod: RawObject, { handlers, record }: ExistingInjection): RawObject {
  return changeContainers(pod, (container) => {
    const name = nameOf(container);
    if (!handlers.has(name)) return container;
    const lifecycle = objectAt(container, "lifecycle") ?? {};
    if (Object.hasOwn(record.preStop, name))
      return { ...container, lifecycle: { ...lifecycle, preStop: record.preStop[name] } };
    const rest = withoutKey(lifecycle, "preStop");
    if (Object.keys(rest).length > 0) return { ...container, lifecycle: rest };
    return restoreEmptyParent(container, "lifecycle", record, `lifecycle/${name}`);
  });
}

function restoreGrace(pod: RawObject, { grace, record }: ExistingInjection): RawObject {
  return changeSpec(pod, (spec) => {
    if (spec["terminationGracePeriodSeconds"] !== grace) return spec;
    if (record.grace !== null) return { ...spec, terminationGracePeriodSeconds: record.grace };
    return restoreEmptyParent(spec, "terminationGracePeriodSeconds", record, "grace");
  });
}

function restorePullSecrets(pod: RawObject, record: OriginalRecord): RawObject {
  if (record.pullSecrets.length === 0) return pod;
  const addedNames = new Set<unknown>(record.pullSecrets);
  return changeSpec(pod, (spec) => {
    const before = listAt(spec, "imagePullSecrets");
    const rest = before.filter((secret) => !isRawObject(secret) || !addedNames.has(secret["name"]));
    if (rest.length === before.length) return spec;
    if (rest.length > 0) return { ...spec, imagePullSecrets: rest };
    return restoreEmptyParent(spec, "imagePullSecrets", record, "imagePullSecrets");
  });
}

const PROBES: readonly (readonly [short: string, probe: ProbeName])[] = [
  ["liveness", "livenessProbe"],
  ["startup", "startupProbe"],
];

function restoreProbes(pod: RawObject, record: OriginalRecord): RawObject {
  const entries = new Set(record.probes);
  return changeContainers(pod, (container) =>
    PROBES.reduce((restored, [short, probe]) => {
      const entry = `${nameOf(container)}/${short}`;
      return entries.has(entry) ? restoreProbe(restored, probe, record, entry) : restored;
    }, container),
  );
}

function restoreProbe(container: RawObject, probe: ProbeName, record: OriginalRecord, entry: string): RawObject {
  const probeFields = objectAt(container, probe);
  if (
    probeFields === undefined ||
    probeFields["terminationGracePeriodSeconds"] !== (record.grace ?? DEFAULT_GRACE_SECONDS)
  )
    return container;
  return { ...container, [probe]: restoreEmptyParent(probeFields, "terminationGracePeriodSeconds", record, entry) };
}

function restoreAnnotations(pod: RawObject, existing: ExistingInjection): RawObject {
  const metadata = objectAt(pod, "metadata");
  const before = annotationsOf(pod);
  let annotations: RawObject = before;
  for (const [key, originalValue] of Object.entries(existing.record.annotations)) {
    if (!isWrittenByInjection(pod, existing, key, originalValue)) continue;
    annotations = originalValue === null ? withoutKey(annotations, key) : { ...annotations, [key]: originalValue };
  }
  if (metadata === undefined || annotations === before) return pod;
  if (Object.keys(annotations).length > 0) return { ...pod, metadata: { ...metadata, annotations } };
  const restMetadata = restoreEmptyParent(metadata, "annotations", existing.record, "annotations");
  if (Object.keys(restMetadata).length > 0) return { ...pod, metadata: restMetadata };
  return restoreEmptyParent(pod, "metadata", existing.record, "metadata");
}

/** Whether the annotation has the value that injection wrote. That value is computed from the Pod and the record. */
function isWrittenByInjection(
  pod: RawObject,
  { manager }: ExistingInjection,
  key: string,
  originalValue: string | null,
): boolean {
  const value = annotationsOf(pod)[key];
  if (key === STATUS_ANNOTATION) return value !== undefined;
  if (key === DEFAULT_CONTAINER) return value === defaultContainerOf(containersOf(pod).map(nameOf));
  return manager !== undefined && isOurExclusion(key, value, originalValue, manager.port);
}

function restorePreload(pod: RawObject, { preload, record }: ExistingInjection): RawObject {
  if (preload === undefined) return pod;
  const podWithoutLibrary = changeContainers(pod, (container) =>
    preload.positions.has(nameOf(container)) ? withoutLibrary(container, record) : container,
  );
  return changeSpec(podWithoutLibrary, (spec) => {
    const rest = listAt(spec, "volumes").filter((volume) => !isRawObject(volume) || !isOurVolume(volume));
    return withList(spec, "volumes", rest, record, "volumes");
  });
}

function withoutLibrary(container: RawObject, record: OriginalRecord): RawObject {
  const name = nameOf(container);
  const env = listAt(container, "env").flatMap((variable): readonly unknown[] =>
    isRawObject(variable) && loadsOurLibrary(variable) ? withoutOurLibrary(variable) : [variable],
  );
  const mounts = listAt(container, "volumeMounts").filter((mount) => !isRawObject(mount) || !isOurMount(mount));
  const withoutVariable = withList(container, "env", env, record, `env/${name}`);
  return withList(withoutVariable, "volumeMounts", mounts, record, `volumeMounts/${name}`);
}

function withoutOurLibrary(variable: RawObject): readonly RawObject[] {
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
