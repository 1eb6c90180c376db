/**
 * Detects Pod templates in objects of unknown kinds. A mapping is a Pod template if
 * - its key is `template` or ends with `Template`,
 * - its `spec` has a list of containers, and its other keys are at most `metadata`, `kind: Pod` and `apiVersion: v1`,
 * - no object below the root that has its own kind contains the mapping; otherwise the mapping would belong to that object.
 */
import type { Path } from "./listed-objects.ts";
import { isAbsent, isRawObject, objectAt, type RawObject, textAt, valueAt } from "./raw-json.ts";

export type FoundTemplate = { readonly path: Path; readonly pod: RawObject };

type FoundShapes = {
  readonly templates: readonly FoundTemplate[];
  readonly podShapes: readonly Path[];
};

/** Keys that are not part of the object's specification. */
const SKIPPED_KEYS: readonly string[] = ["metadata", "status"];

/** No known schema is as deep. Deeper parts are ignored. */
const DEPTH_LIMIT = 64;

export function shapesIn(root: RawObject): FoundShapes {
  const foundShapes: MutableShapes = { templates: [], podShapes: [] };
  for (const [key, value] of Object.entries(root)) {
    if (key === "containers" && areContainers(value)) foundShapes.podShapes.push([]);
    else if (!SKIPPED_KEYS.includes(key)) collectShapes(value, { path: [key], isInNestedObject: false }, foundShapes);
  }
  return foundShapes;
}

type MutableShapes = { readonly templates: FoundTemplate[]; readonly podShapes: Path[] };
type Position = { readonly path: Path; readonly isInNestedObject: boolean };

function collectShapes(value: unknown, { path, isInNestedObject }: Position, foundShapes: MutableShapes): void {
  if (path.length > DEPTH_LIMIT) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries())
      collectShapes(item, { path: [...path, index], isInNestedObject }, foundShapes);
    return;
  }
  if (!isRawObject(value)) return;
  if (!isInNestedObject && isTemplateKey(path.at(-1)) && isPodTemplate(value)) {
    foundShapes.templates.push({ path, pod: value });
    return;
  }
  if (areContainers(valueAt(value, "containers"))) {
    foundShapes.podShapes.push(path);
    return;
  }
  const isObject = textAt(value, "kind") !== undefined && textAt(value, "apiVersion") !== undefined;
  for (const [key, part] of Object.entries(value)) {
    collectShapes(part, { path: [...path, key], isInNestedObject: isInNestedObject || isObject }, foundShapes);
  }
}

function isTemplateKey(key: string | number | undefined): boolean {
  return typeof key === "string" && /^template$|Template$/.test(key);
}

function isPodTemplate(value: RawObject): boolean {
  const { metadata, spec: _spec, kind = "Pod", apiVersion = "v1", ...rest } = value;
  return (
    areContainers(valueAt(objectAt(value, "spec"), "containers")) &&
    (isAbsent(metadata) || isRawObject(metadata)) &&
    kind === "Pod" &&
    apiVersion === "v1" &&
    Object.keys(rest).length === 0
  );
}

function areContainers(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every(isRawObject) &&
    value.some((item) => textAt(item, "name") !== undefined || textAt(item, "image") !== undefined)
  );
}
