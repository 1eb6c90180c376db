/** Layers of annotations to one policy, with the origin of each value and every problem on the way. */
import {
  ANNOTATIONS,
  FIELDS,
  type Field,
  PREFIX,
  type Row,
  type Scope,
  STATUS_ANNOTATION,
} from "./annotation-table.ts";
import { nearest } from "./nearest.ts";
import type { PodPolicy } from "./pod-policy.ts";
import type { Problem } from "./problem.ts";
import { quote } from "./quote.ts";

/** The annotations found at one place. Values are `unknown`: manifests and hostile requests hold anything. */
export type Layer = {
  readonly scope: Scope;
  /** For messages: the Pod's, namespace's or configuration's name. */
  readonly name: string;
  readonly annotations: Readonly<Record<string, unknown>>;
};

export type Origin = Readonly<Record<Field, string>>;

export type Resolution = {
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
  for (const source of sources) reportUnknown(source, problems);
  const origin: Partial<Record<Field, string>> = {};
  const pick = <K extends Field>(field: K): PodPolicy[K] => {
    const row: Row<PodPolicy[K]> = ANNOTATIONS[field];
    let chosen: PodPolicy[K] | undefined;
    for (const source of sources) {
      const value = readValue(row, source, problems);
      if (value === undefined || chosen !== undefined) continue;
      chosen = value;
      origin[field] = source.name;
    }
    origin[field] ??= "default";
    return chosen ?? row.fallback;
  };
  const policy: PodPolicy = {
    inject: pick("inject"),
    mode: pick("mode"),
    drainDelayMs: pick("drainDelayMs"),
    deregistrationDelayMs: pick("deregistrationDelayMs"),
    drainTimeoutMs: pick("drainTimeoutMs"),
    quietPeriodMs: pick("quietPeriodMs"),
    drainedWhen: pick("drainedWhen"),
    driver: pick("driver"),
    driverUrl: pick("driverUrl"),
    drainUrl: pick("drainUrl"),
    activeUrl: pick("activeUrl"),
    drainPorts: pick("drainPorts"),
    ignorePorts: pick("ignorePorts"),
    containers: pick("containers"),
    preStop: pick("preStop"),
    port: pick("port"),
    profile: pick("profile"),
    resources: pick("resources"),
  };
  return { policy, origin: origin as Origin, problems };
}

type Source = {
  readonly scope: Scope;
  readonly name: string;
  /** Keys without the prefix. Profiles and cluster values are written without it. */
  readonly values: ReadonlyMap<string, unknown>;
};

/** What every Pod gets of which nobody says anything. */
const NOTHING_SAID = resolveSources([], []);

function sourceOf(layer: Layer): Source | undefined {
  const keys = Object.keys(layer.annotations).filter((key) => key.startsWith(PREFIX) && key !== STATUS_ANNOTATION);
  if (keys.length === 0) return undefined;
  const values = new Map(keys.map((key) => [key.slice(PREFIX.length), layer.annotations[key]]));
  return { scope: layer.scope, name: layer.scope === "cluster" ? "cluster" : `${layer.scope} ${layer.name}`, values };
}

function profileOf(layer: Layer, profiles: Profiles, problems: Problem[]): readonly Source[] {
  const name = layer.annotations[`${PREFIX}${ANNOTATIONS.profile.name}`];
  if (typeof name !== "string" || ANNOTATIONS.profile.codec.parse(name) === undefined) return [];
  const where = `${layer.scope} ${layer.name}, ${PREFIX}${ANNOTATIONS.profile.name}`;
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile === undefined) {
    const known = Object.keys(profiles).join(", ");
    const expected = known === "" ? "no profile is defined" : `defined are ${known.slice(0, 80)}`;
    problems.push({ code: "unknown_profile", where, message: `Got ${quote(name)}, but ${expected}.` });
    return [];
  }
  return [
    {
      scope: "cluster",
      name: `profile ${name} (${layer.scope} ${layer.name})`,
      values: new Map(Object.entries(profile)),
    },
  ];
}

const NAMES: readonly string[] = FIELDS.map((field) => ANNOTATIONS[field].name);

function reportUnknown(source: Source, problems: Problem[]): void {
  for (const key of source.values.keys()) {
    if (NAMES.includes(key)) continue;
    const guess = nearest(key, NAMES);
    const hint =
      guess === undefined ? `known are ${NAMES.slice(0, 5).join(", ")}, …` : `did you mean ${PREFIX}${guess}?`;
    problems.push({
      code: "unknown_annotation",
      where: source.name,
      message: `There is no ${quote(`${PREFIX}${key}`)}; ${hint}`,
    });
  }
}

function readValue<T>(row: Row<T>, source: Source, problems: Problem[]): T | undefined {
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
  const value = typeof text === "string" ? row.codec.parse(text) : undefined;
  if (value === undefined) {
    const got = typeof text === "string" ? quote(text) : `a ${text === null ? "null" : typeof text} instead of text`;
    problems.push({ code: "bad_value", where, message: `Got ${got}, expected ${row.codec.expects}.` });
  }
  return value;
}
