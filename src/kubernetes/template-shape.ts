/**
 * Which part of an object of an unknown kind is a Pod template. A mapping is one when
 * - its key is `template` or ends with `Template`,
 * - its `spec` holds a list of containers, and beside it stands at most `metadata` (or `v1` and `Pod`),
 * - no object with a kind of its own stands between it and the root: that one's Pods are another object's.
 *
 * Lists of containers in any other place only look like a Pod.
 */
import type { Path } from "./listed-objects.ts";
import { isAbsent, isRawObject, objectAt, type RawObject, textAt, valueAt } from "./raw-json.ts";

export type FoundTemplate = { readonly path: Path; readonly pod: RawObject };

type FoundShapes = {
  readonly templates: readonly FoundTemplate[];
  /** Of mappings that hold `containers` and are in no template. */
  readonly lookAlikes: readonly Path[];
};

/** What the API server adds or people note: never what an object asks for. */
const NOT_ASKED_FOR: readonly string[] = ["metadata", "status"];

/** No schema of the field comes near; deeper ones are an attack. */
const DEPTH_LIMIT = 64;

export function shapesIn(root: RawObject): FoundShapes {
  const found: Found = { templates: [], lookAlikes: [] };
  for (const [key, value] of Object.entries(root)) {
    if (key === "containers" && areContainers(value)) found.lookAlikes.push([]);
    else if (!NOT_ASKED_FOR.includes(key)) look(value, { path: [key], isOfAnother: false }, found);
  }
  return found;
}

type Found = { readonly templates: FoundTemplate[]; readonly lookAlikes: Path[] };
type Spot = { readonly path: Path; readonly isOfAnother: boolean };

function look(value: unknown, { path, isOfAnother }: Spot, found: Found): void {
  if (path.length > DEPTH_LIMIT) return;
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) look(item, { path: [...path, index], isOfAnother }, found);
    return;
  }
  if (!isRawObject(value)) return;
  if (!isOfAnother && isTemplateKey(path.at(-1)) && isPodTemplate(value)) {
    found.templates.push({ path, pod: value });
    return;
  }
  if (areContainers(valueAt(value, "containers"))) {
    found.lookAlikes.push(path);
    return;
  }
  const isObject = textAt(value, "kind") !== undefined && textAt(value, "apiVersion") !== undefined;
  for (const [key, part] of Object.entries(value)) {
    look(part, { path: [...path, key], isOfAnother: isOfAnother || isObject }, found);
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
