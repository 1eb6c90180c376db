/** Resolves layers of annotations to one policy, with the origin of each value and all problems. */
import type { Row, Scope } from "./field-rows.ts";
import { ANNOTATIONS, FIELDS, type Field, type PodPolicy, PREFIX, STATUS_ANNOTATION } from "./fields.ts";
import { findNearest } from "./nearest.ts";
import type { Problem } from "./problem.ts";
import { quote } from "./quote.ts";
import { readValue } from "./read-value.ts";
import { SHIPPED_PROFILES } from "./shipped-profiles.ts";

/** The annotations of one object. Values are `unknown`, because manifests and requests are untrusted. */
export type Layer = {
  readonly scope: Scope;
  /** The name of the Pod, namespace or configuration, for messages. */
  readonly name: string;
  readonly annotations: Readonly<Record<string, unknown>>;
};

export type Origins = Readonly<Record<Field, string>>;

type Resolution = {
  readonly policy: PodPolicy;
  /** `pod web-0`, `profile slow (namespace shop)`, `cluster`, or `default`. */
  readonly origins: Origins;
  readonly problems: readonly Problem[];
};

export type Profiles = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Selects one value per field: from the nearest layer, from the profile that this layer names, from the next layer, …, or the
 * default. An invalid value falls back to the next source. All layers are read, so that all problems are reported at once.
 */
export function resolvePolicy(layers: readonly Layer[], profiles: Profiles): Resolution {
  const problems: Problem[] = [];
  const sources: Source[] = [];
  for (const layer of layers) {
    const source = sourceOf(layer);
    // `undefined` for a layer without an annotation of lastcall, as most layers are.
    if (source !== undefined) sources.push(source, ...profileOf(layer, profiles, problems));
  }
  if (sources.length === 0) return DEFAULT_RESOLUTION;
  return resolveSources(sources, problems);
}

function resolveSources(sources: readonly Source[], problems: Problem[]): Resolution {
  reportUnknownKeys(sources, problems);
  const origins: Partial<Record<Field, string>> = {};
  const pickValue = <K extends Field>(field: K): PodPolicy[K] => {
    const row: Row<PodPolicy[K]> = ANNOTATIONS[field];
    let chosenValue: PodPolicy[K] | undefined;
    for (const source of sources) {
      const value = valueIn(row, source, problems);
      if (value === undefined || chosenValue !== undefined) continue;
      chosenValue = value;
      origins[field] = source.name;
    }
    origins[field] ??= "default";
    return chosenValue ?? row.fallback;
  };
  const policy: Partial<Record<Field, unknown>> = {};
  for (const field of FIELDS) policy[field] = pickValue(field);
  return { policy: policy as PodPolicy, origins: origins as Origins, problems };
}

type Source = {
  readonly scope: Scope;
  readonly name: string;
  /** By the name in the field table, without the prefix. */
  readonly values: ReadonlyMap<string, unknown>;
  readonly unknownKeys: readonly string[];
};

const FIELD_NAMES: readonly string[] = FIELDS.map((field) => ANNOTATIONS[field].name);

function sourceOf(layer: Layer): Source | undefined {
  const name = layer.scope === "cluster" ? "cluster" : `${layer.scope} ${layer.name}`;
  const annotationKeys = Object.keys(layer.annotations).filter(
    (key) => key.startsWith(PREFIX) && key !== STATUS_ANNOTATION,
  );
  return annotationKeys.length === 0 ? undefined : createSource({ ...layer, name }, annotationKeys, PREFIX);
}

/** Known names by prefix: annotations have the prefix, values in a profile do not. */
const KNOWN_NAMES: Readonly<Record<typeof PREFIX | "", ReadonlySet<string>>> = {
  [PREFIX]: new Set(FIELD_NAMES.map((name) => PREFIX + name)),
  "": new Set(FIELD_NAMES),
};

function createSource(layer: Layer, keys: readonly string[], prefix: typeof PREFIX | ""): Source {
  const isKnown = (key: string): boolean => KNOWN_NAMES[prefix].has(key);
  return {
    scope: layer.scope,
    name: layer.name,
    values: new Map(keys.filter(isKnown).map((key) => [key.slice(prefix.length), layer.annotations[key]])),
    unknownKeys: keys.filter((key) => !isKnown(key)),
  };
}

function profileOf(layer: Layer, profiles: Profiles, problems: Problem[]): readonly Source[] {
  const name = layer.annotations[`${PREFIX}${ANNOTATIONS.profile.name}`];
  if (typeof name !== "string" || ANNOTATIONS.profile.codec.parse(name) === undefined) return [];
  const where = `${layer.scope} ${layer.name}, ${PREFIX}${ANNOTATIONS.profile.name}`;
  const profile = profileNamed(name, profiles);
  if (profile === undefined) {
    const configuredNames = Object.keys(profiles).filter((key) => !Object.hasOwn(SHIPPED_PROFILES, key));
    const knownNames = [...Object.keys(SHIPPED_PROFILES), ...configuredNames].join(", ");
    problems.push({
      code: "unknown_profile",
      where,
      message: `Got ${quote(name)}, expected one of ${knownNames.slice(0, 100)}.`,
    });
    return [];
  }
  const profileLayer = {
    scope: "cluster",
    name: `profile ${name} (${layer.scope} ${layer.name})`,
    annotations: profile,
  } as const;
  return [createSource(profileLayer, Object.keys(profile), "")];
}

/** A profile of the cluster configuration replaces a built-in profile of the same name. */
function profileNamed(name: string, profiles: Profiles): Profiles[string] | undefined {
  if (Object.hasOwn(profiles, name)) return profiles[name];
  return Object.hasOwn(SHIPPED_PROFILES, name) ? SHIPPED_PROFILES[name]?.values : undefined;
}

/** Limit of unknown names that get a suggestion, because each suggestion takes thousands of steps. */
const UNKNOWN_LIMIT = 20;

function reportUnknownKeys(sources: readonly Source[], problems: Problem[]): void {
  let remainingCount = UNKNOWN_LIMIT;
  for (const source of sources) {
    const namedKeys = source.unknownKeys.slice(0, remainingCount);
    remainingCount -= namedKeys.length;
    problems.push(...namedKeys.map((key) => unknownAnnotationProblem(key, source.name)));
    const othersCount = source.unknownKeys.length - namedKeys.length;
    if (othersCount > 0)
      problems.push({ code: "unknown_annotation", where: source.name, message: moreUnknownText(othersCount) });
  }
}

export function unknownAnnotationProblem(name: string, where: string): Problem {
  const key = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
  const suggestion = findNearest(key, FIELD_NAMES);
  const hint =
    suggestion === undefined
      ? `expected ${FIELD_NAMES.slice(0, 5).join(", ")}, …`
      : `did you mean ${PREFIX}${suggestion}?`;
  return { code: "unknown_annotation", where, message: `${quote(`${PREFIX}${key}`)} is unknown; ${hint}` };
}

function moreUnknownText(count: number): string {
  const [annotations, areUnknown] = count === 1 ? ["annotation", "is unknown"] : ["annotations", "are unknown"];
  return `${count} more ${annotations} with the prefix ${PREFIX} ${areUnknown}.`;
}

function valueIn<T>(row: Row<T>, source: Source, problems: Problem[]): T | undefined {
  const text = source.values.get(row.name);
  if (text === undefined) return undefined;
  const where = `${source.name}, ${PREFIX}${row.name}`;
  if (!row.scopes.includes(source.scope)) {
    problems.push({
      code: "wrong_scope",
      where,
      message: `Has no effect on a ${source.scope}. Set it on a ${row.scopes.join(" or ")}.`,
    });
    return undefined;
  }
  const result = readValue(row.codec, text);
  if (result.ok) return result.value;
  problems.push({ code: result.code, where, message: result.message });
  return undefined;
}

/** For Pods without an annotation of lastcall. Initialised last, because it uses the constants above. */
const DEFAULT_RESOLUTION = resolveSources([], []);
