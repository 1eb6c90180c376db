/** Reads the cluster configuration: defaults, profiles, and the effect of invalid values. */
import { ANNOTATIONS, FIELDS, PREFIX } from "./fields.ts";
import { findNearest } from "./nearest.ts";
import type { Problem } from "./problem.ts";
import { quote } from "./quote.ts";
import { readValue, typeText } from "./read-value.ts";
import type { Layer, Profiles } from "./resolve.ts";

/** The effect of an invalid value on its Pod. */
type OnInvalid = "warn" | "skip" | "deny";

export type ClusterConfig = {
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly profiles: Profiles;
  readonly onInvalid: OnInvalid;
};

export const DEFAULT_CONFIG: ClusterConfig = { defaults: {}, profiles: {}, onInvalid: "warn" };

export function clusterLayer(config: ClusterConfig): Layer {
  const annotations = Object.fromEntries(
    Object.entries(config.defaults).map(([key, value]) => [`${PREFIX}${key}`, value]),
  );
  return { scope: "cluster", name: "cluster", annotations };
}

type ConfigReading = { readonly config: ClusterConfig; readonly problems: readonly Problem[] };

/**
 * Checks a parsed configuration. If it has problems, callers print all of them and do not start. Unlike annotations, which come from
 * users, the file comes from the cluster's administrator, who can correct it.
 */
export function readClusterConfig(value: unknown): ConfigReading {
  if (value === undefined || value === null) return { config: DEFAULT_CONFIG, problems: [] };
  if (!isRecord(value)) {
    const message = `Got ${typeText(value)}, expected a mapping with defaults, profiles and onInvalid.`;
    return { config: DEFAULT_CONFIG, problems: [{ code: "bad_value", where: "configuration", message }] };
  }
  const problems: Problem[] = unknownNameProblems(Object.keys(value), CONFIG_KEYS, "configuration");
  const config = {
    defaults: readValues(value["defaults"], "defaults", problems),
    profiles: readProfiles(value["profiles"], problems),
    onInvalid: readOnInvalid(value["onInvalid"], problems),
  };
  return { config, problems };
}

const CONFIG_KEYS: readonly string[] = ["defaults", "profiles", "onInvalid"];

const SETTABLE_FIELDS = FIELDS.filter((field) => ANNOTATIONS[field].scopes.includes("cluster"));

function readProfiles(value: unknown, problems: Problem[]): Profiles {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) {
    const message = `Got ${typeText(value)}, expected a mapping from profile names to values.`;
    problems.push({ code: "bad_value", where: "profiles", message });
    return {};
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, profile]) => [name, readValues(profile, `profiles.${name}`, problems)]),
  );
}

function readOnInvalid(value: unknown, problems: Problem[]): OnInvalid {
  if (value === undefined || value === null) return "warn";
  if (value === "warn" || value === "skip" || value === "deny") return value;
  const message = `Got ${quote(String(value))}, expected one of warn, skip, deny.`;
  problems.push({ code: "bad_value", where: "onInvalid", message });
  return "warn";
}

function readValues(value: unknown, where: string, problems: Problem[]): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) {
    const message = `Got ${typeText(value)}, expected a mapping from annotation names to text.`;
    problems.push({ code: "bad_value", where, message });
    return {};
  }
  const names = SETTABLE_FIELDS.map((field) => ANNOTATIONS[field].name);
  problems.push(...unknownNameProblems(Object.keys(value), names, where));
  for (const field of SETTABLE_FIELDS) {
    const { name, codec } = ANNOTATIONS[field];
    const text = Object.hasOwn(value, name) ? value[name] : undefined;
    if (text === undefined) continue;
    const result = readValue<unknown>(codec, text);
    if (!result.ok) problems.push({ code: result.code, where: `${where}.${name}`, message: result.message });
  }
  return value;
}

function unknownNameProblems(names: readonly string[], knownNames: readonly string[], where: string): Problem[] {
  return names
    .filter((name) => !knownNames.includes(name))
    .map((name) => {
      const suggestion = findNearest(name, knownNames);
      const hint =
        suggestion === undefined ? `expected one of ${knownNames.join(", ")}` : `did you mean ${suggestion}?`;
      return { code: "unknown_annotation", where, message: `${quote(name)} cannot be set here; ${hint}` };
    });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
