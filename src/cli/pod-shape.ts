/** Which part of an object keeps it from being a Pod: the place, what stands there, and what would be right. */
import { ANNOTATIONS_LIMIT_BYTES, annotationCharacters } from "../kubernetes/pod.ts";
import { isAbsent, isRawObject, listAt, objectAt, type RawObject, valueAt } from "../kubernetes/raw-json.ts";
import { quote } from "../policy/quote.ts";

/** The first wrong part as half a sentence; `undefined` when none of these is wrong. */
export function wrongPart(pod: unknown): string | undefined {
  if (!isRawObject(pod)) return wrong("the Pod", pod, "a mapping");
  const metadata = objectAt(pod, "metadata");
  const spec = objectAt(pod, "spec");
  return (
    unlessMappingOrAbsent(pod, "metadata", "") ??
    unlessMappingOrAbsent(metadata, "annotations", "metadata.") ??
    unlessMappingOrAbsent(metadata, "labels", "metadata.") ??
    wrongLength(pod) ??
    (spec === undefined ? wrong("spec", valueAt(pod, "spec"), "a mapping") : wrongInSpec(spec))
  );
}

function wrongLength(pod: RawObject): string | undefined {
  const characters = annotationCharacters(pod);
  if (characters <= ANNOTATIONS_LIMIT_BYTES) return undefined;
  return `metadata.annotations has ${characters} characters, expected at most ${ANNOTATIONS_LIMIT_BYTES}`;
}

function wrongInSpec(spec: RawObject): string | undefined {
  const grace = valueAt(spec, "terminationGracePeriodSeconds");
  if (!isAbsent(grace) && !(typeof grace === "number" && Number.isSafeInteger(grace) && grace >= 0))
    return wrong("spec.terminationGracePeriodSeconds", grace, "a whole number of seconds");
  const containers = valueAt(spec, "containers");
  if (!Array.isArray(containers)) return wrong("spec.containers", containers, "a list");
  if (containers.length === 0) return "spec.containers is empty, expected at least one container";
  const initContainers = valueAt(spec, "initContainers");
  if (!isAbsent(initContainers) && !Array.isArray(initContainers))
    return wrong("spec.initContainers", initContainers, "a list");
  return wrongContainer(spec);
}

function wrongContainer(spec: RawObject): string | undefined {
  const names = new Set<string>();
  for (const list of ["containers", "initContainers"]) {
    for (const [index, container] of listAt(spec, list).entries()) {
      const at = `spec.${list}[${index}]`;
      if (!isRawObject(container)) return wrong(at, container, "a mapping");
      const inside = wrongName(at, container) ?? wrongParts(at, container);
      if (inside !== undefined) return inside;
      const name = String(container["name"]);
      if (names.has(name)) return `${at}.name is ${quote(name)} a second time, expected names that differ`;
      names.add(name);
    }
  }
  return undefined;
}

function wrongName(at: string, container: RawObject): string | undefined {
  const name = container["name"];
  if (typeof name !== "string") return wrong(`${at}.name`, name, "text");
  if (name.length <= 63 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name)) return undefined;
  return `${at}.name is ${quote(name)}, expected at most 63 of a-z, 0-9 and - (no - at the ends)`;
}

function wrongParts(at: string, container: RawObject): string | undefined {
  return (
    unlessMappingOrAbsent(container, "lifecycle", `${at}.`) ??
    unlessMappingOrAbsent(objectAt(container, "lifecycle"), "preStop", `${at}.lifecycle.`) ??
    unlessMappingOrAbsent(container, "livenessProbe", `${at}.`) ??
    unlessMappingOrAbsent(container, "startupProbe", `${at}.`) ??
    unlessMappingOrAbsent(container, "resources", `${at}.`)
  );
}

function unlessMappingOrAbsent(parent: RawObject | undefined, key: string, before: string): string | undefined {
  const value = valueAt(parent, key);
  return isAbsent(value) || isRawObject(value) ? undefined : wrong(before + key, value, "a mapping");
}

function wrong(place: string, value: unknown, expected: string): string {
  return `${place} is ${kindOf(value)}, expected ${expected}`;
}

function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  if (typeof value === "string") return `text (${quote(value)})`;
  return typeof value === "number" ? `the number ${value}` : String(value);
}
