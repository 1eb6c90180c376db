/** Objects in which something looks like a Pod and is not taken as one: each is worth a word. */
import { leftAlone } from "./left-alone.ts";
import { groupOf, type ListedObject, objectsIn, type Path, pathText } from "./listed-objects.ts";
import { templatesOf } from "./pod-template.ts";
import type { TemplatePath } from "./template-path.ts";
import { shapesIn } from "./template-shape.ts";

/** One sentence for each such object. */
export function passedOver(document: unknown, named: readonly TemplatePath[] = []): readonly string[] {
  return objectsIn(document).flatMap((listed) => sentencesOf(listed, named));
}

function sentencesOf(listed: ListedObject, named: readonly TemplatePath[]): readonly string[] {
  const { object, kind, apiVersion } = listed;
  const taken = templatesOf(listed, named).map(({ path }) => path);
  const { templates, lookAlikes } = shapesIn(object);
  const left = [...templates.map(({ path }) => path), ...lookAlikes].filter(
    (path) => !taken.some((other) => isWithin(path, other)),
  );
  const known = leftAlone(apiVersion, kind);
  if (known !== undefined) {
    const isWorthAWord = left.length > 0 || (known.onlyLooksLike !== true && taken.length === 0);
    return isWorthAWord ? [`this ${kind} is left as it is: ${known.reason}`] : [];
  }
  return left.map(
    (path) => `${pathText(path) || "the root"} of this ${kind || "document"} ${LOOKS}${hint(listed, path)}`,
  );
}

const LOOKS = "looks like a Pod, but no Pod template of the object holds it; left as it is";

/** A path can be named only where `metadata` and `spec` of a Pod would stand. */
function hint({ kind, apiVersion }: ListedObject, path: Path): string {
  const template = path.at(-1) === "spec" ? path.slice(0, -1) : path;
  if (template.length === 0 || (template === path && !/[tT]emplate$/.test(String(path.at(-1))))) return "";
  const group = groupOf(apiVersion);
  const prefix = kind === "" ? "" : `${kind}${group === "" ? "" : `.${group}`}=`;
  return ` (--template-path ${prefix}${pathText(template)} takes it)`;
}

function isWithin(path: Path, outer: Path): boolean {
  return outer.every((key, at) => path[at] === key);
}
