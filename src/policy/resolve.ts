/** Layers of annotations to one policy, with the origin of each value and every problem on the way. */
import type { Row, Scope } from "./field-rows.ts";
import { ANNOTATIONS, FIELDS, type Field, type PodPolicy, PREFIX, STATUS_ANNOTATION } from "./fields.ts";
import { nearest } from "./nearest.ts";
import type { Problem } from "./problem.ts";
import { quote } from "./quote.ts";
import { readValue } from "./read-value.ts";
import { SHIPPED_PROFILES } from "./shipped-profiles.ts";

/** The annotations found at one place. Values are `unknown`: manifests and hostile requests hold anything. */
export type Layer = {
  readonly scope: Scope;
  /** For messages: the Pod's, namespace's or configuration's name. */
  readonly name: string;
  readonly annotations: Readonly<Record<string, unknown>>;
};

export type Origin = Readonly<Record<Field, string>>;

type Resolution = {
  readonly policy: PodPolicy;
  /** `pod web-0`, `profile slow (namespace shop)`, `cluster`, or `default`. */
  readonly origin: Origin;
  readonly problems: readonly Problem[];
};

export type Profiles = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Picks one value per field: nearest layer first, a profile right behind the layer that names it, then the table's
 * fallback. Every layer is read to the end, so a person sees all mistakes at once. A bad value falls through to the
 * next farther layer.
 */
export function resolvePolicy(layers: readonly Layer[], profiles: Profiles): Resolution {
  const problems: Problem[] = [];
  const sources: Source[] = [];
  for (const layer of layers) {
    const source = sourceOf(layer);
    // Most layers say nothing to us, and neither do most Pods.
    if (source !== undefined) sources.push(source, ...profileOf(layer, profiles, problems));
  }
  if (sources.length === 0) return NOTHING_SAID;
  return resolveSources(sources, problems);
}

function resolveSources(sources: readonly Source[], problems: Problem[]): Resolution {
  reportUnknown(sources, problems);
  const origin: Partial<Record<Field, string>> = {};
  const pick = <K extends Field>(field: K): PodPolicy[K] => {
    const row: Row<PodPolicy[K]> = ANNOTATIONS[field];
    let chosen: PodPolicy[K] | undefined;
    for (const source of sources) {
      const value = valueIn(row, source, problems);
      if (value === undefined || chosen !== undefined) continue;
      chosen = value;
      origin[field] = source.name;
    }
    origin[field] ??= "default";
    return chosen ?? row.fallback;
  };
  const policy: Partial<Record<Field, unknown>> = {};
  for (const field of FIELDS) policy[field] = pick(field);
  return { policy: policy as PodPolicy, origin: origin as Origin, problems };
}

type Source = {
  readonly scope: Scope;
  readonly name: string;
  /** By the names of the table. Profiles and cluster values are written without the prefix. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Names that are not in the table. */
  readonly unknown: readonly string[];
};

const NAMES: readonly string[] = FIELDS.map((field) => ANNOTATIONS[field].name);

function sourceOf(layer: Layer): Source | undefined {
  const name = layer.scope === "cluster" ? "cluster" : `${layer.scope} ${layer.name}`;
  const written = Object.keys(layer.annotations).filter((key) => key.startsWith(PREFIX) && key !== STATUS_ANNOTATION);
  return written.length === 0 ? undefined : namedSource({ ...layer, name }, written, PREFIX);
}

/** As annotations and profiles write them. */
const KNOWN: Readonly<Record<typeof PREFIX | "", ReadonlySet<string>>> = {
  [PREFIX]: new Set(NAMES.map((name) => PREFIX + name)),
  "": new Set(NAMES),
};

function namedSource(layer: Layer, written: readonly string[], prefix: typeof PREFIX | ""): Source {
  const isKnown = (key: string): boolean => KNOWN[prefix].has(key);
  return {
    scope: layer.scope,
    name: layer.name,
    values: new Map(written.filter(isKnown).map((key) => [key.slice(prefix.length), layer.annotations[key]])),
    unknown: written.filter((key) => !isKnown(key)),
  };
}

function profileOf(layer: Layer, profiles: Profiles, problems: Problem[]): readonly Source[] {
  const name = layer.annotations[`${PREFIX}${ANNOTATIONS.profile.name}`];
  if (typeof name !== "string" || ANNOTATIONS.profile.codec.parse(name) === undefined) return [];
  const where = `${layer.scope} ${layer.name}, ${PREFIX}${ANNOTATIONS.profile.name}`;
  const profile = profileNamed(name, profiles);
  if (profile === undefined) {
    const own = Object.keys(profiles).filter((key) => !Object.hasOwn(SHIPPED_PROFILES, key));
    const known = [...Object.keys(SHIPPED_PROFILES), ...own].join(", ");
    problems.push({
      code: "unknown_profile",
      where,
      message: `Got ${quote(name)}, but there are ${known.slice(0, 100)}.`,
    });
    return [];
  }
  const named = {
    scope: "cluster",
    name: `profile ${name} (${layer.scope} ${layer.name})`,
    annotations: profile,
  } as const;
  return [namedSource(named, Object.keys(profile), "")];
}

/** The cluster's, or else the one that ships. */
function profileNamed(name: string, profiles: Profiles): Profiles[string] | undefined {
  if (Object.hasOwn(profiles, name)) return profiles[name];
  return Object.hasOwn(SHIPPED_PROFILES, name) ? SHIPPED_PROFILES[name]?.values : undefined;
}

/** Finding what a name was meant to be takes thousands of steps. Who has misspelt this many is helped by the first ones. */
const UNKNOWN_NAMED = 20;

function reportUnknown(sources: readonly Source[], problems: Problem[]): void {
  let left = UNKNOWN_NAMED;
  for (const source of sources) {
    const named = source.unknown.slice(0, left);
    left -= named.length;
    problems.push(...named.map((key) => unknownAnnotation(key, source.name)));
    const more = source.unknown.length - named.length;
    if (more > 0) problems.push({ code: "unknown_annotation", where: source.name, message: moreUnknown(more) });
  }
}

export function unknownAnnotation(written: string, where: string): Problem {
  const key = written.startsWith(PREFIX) ? written.slice(PREFIX.length) : written;
  const guess = nearest(key, NAMES);
  const hint = guess === undefined ? `known are ${NAMES.slice(0, 5).join(", ")}, …` : `did you mean ${PREFIX}${guess}?`;
  return { code: "unknown_annotation", where, message: `There is no ${quote(`${PREFIX}${key}`)}; ${hint}` };
}

function moreUnknown(count: number): string {
  return `There are ${count} more annotations under ${PREFIX} that do not exist.`;
}

function valueIn<T>(row: Row<T>, source: Source, problems: Problem[]): T | undefined {
  const text = source.values.get(row.name);
  if (text === undefined) return undefined;
  const where = `${source.name}, ${PREFIX}${row.name}`;
  if (!row.scopes.includes(source.scope)) {
    problems.push({
      code: "wrong_scope",
      where,
      message: `This has no effect on a ${source.scope}; set it on ${row.scopes.join(" or ")}.`,
    });
    return undefined;
  }
  const read = readValue(row.codec, text);
  if (read.ok) return read.value;
  problems.push({ code: read.code, where, message: read.message });
  return undefined;
}

/** What every Pod gets where no layer says anything. Last, because it takes all that stands above. */
const NOTHING_SAID = resolveSources([], []);
