/** Parses `--template-path`: `spec.workers[].pod`, or `Widget.example.com=spec.pod` for one kind. */
import { groupOf, type ListedObject, type Path } from "./listed-objects.ts";
import { isRawObject } from "./raw-json.ts";
import type { FoundTemplate } from "./template-shape.ts";

export type TemplatePath = {
  readonly text: string;
  /** Empty if the path applies to every kind. */
  readonly kind: string;
  /** Empty if the path applies to every group. */
  readonly group: string;
  readonly steps: readonly Step[];
};

type Step = string | number | typeof EVERY;
const EVERY = Symbol("every key or item");

const PATH_PATTERN = /^(?:(?<kind>[A-Za-z][A-Za-z0-9]*)(?:\.(?<group>[a-z0-9.-]+))?=)?(?<path>[^=]+)$/;
const STEP_PATTERN = /^(?<key>\*|[A-Za-z_][A-Za-z0-9_-]*)(?<positions>(?:\[(?:\*|\d{0,9})\])*)$/;

export function readTemplatePath(text: string): TemplatePath | undefined {
  const groups = PATH_PATTERN.exec(text)?.groups;
  if (groups?.["path"] === undefined) return undefined;
  const steps = groups["path"].split(".").map(readStep);
  if (steps.some((step) => step === undefined)) return undefined;
  return { text, kind: groups["kind"] ?? "", group: groups["group"] ?? "", steps: steps.flatMap((step) => step ?? []) };
}

function readStep(text: string): readonly Step[] | undefined {
  const groups = STEP_PATTERN.exec(text)?.groups;
  if (groups?.["key"] === undefined) return undefined;
  const positions = [...(groups["positions"] ?? "").matchAll(/\[(.*?)\]/g)].map(([, at = ""]) =>
    /^\d/.test(at) ? Number(at) : EVERY,
  );
  return [groups["key"] === "*" ? EVERY : groups["key"], ...positions];
}

export function templatesAt(
  { object, kind, apiVersion }: ListedObject,
  templatePath: TemplatePath,
): readonly FoundTemplate[] {
  if (templatePath.kind !== "" && templatePath.kind !== kind) return [];
  if (templatePath.group !== "" && templatePath.group !== groupOf(apiVersion)) return [];
  let matchingParts: readonly { readonly path: Path; readonly value: unknown }[] = [{ path: [], value: object }];
  for (const step of templatePath.steps) {
    matchingParts = matchingParts.flatMap(({ path, value }) =>
      entriesOf(value)
        .filter(([key]) => step === EVERY || key === step)
        .map(([key, part]) => ({ path: [...path, key], value: part })),
    );
  }
  return matchingParts.flatMap(({ path, value }) => (isRawObject(value) ? [{ path, pod: value }] : []));
}

function entriesOf(value: unknown): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return [...value.entries()];
  return isRawObject(value) ? Object.entries(value) : [];
}
