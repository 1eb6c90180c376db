/** The cluster's configuration file: defaults, profiles, and what a bad value does. Read by the webhook and the CLI. */
import { ANNOTATIONS, FIELDS, PREFIX } from "./annotation-table.ts";
import { nearest } from "./nearest.ts";
import type { Problem } from "./problem.ts";
import { quote } from "./quote.ts";
import type { Layer, Profiles } from "./resolve.ts";

/** What happens to a Pod one of whose values cannot be read. */
export type OnInvalid = "warn" | "skip" | "deny";

export type ClusterConfig = {
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly profiles: Profiles;
  readonly onInvalid: OnInvalid;
};

export const DEFAULT_CONFIG: ClusterConfig = { defaults: {}, profiles: {}, onInvalid: "warn" };

/** The farthest layer: the defaults as if they were annotations of the cluster. */
export function clusterLayer(config: ClusterConfig): Layer {
  const annotations = Object.fromEntries(
    Object.entries(config.defaults).map(([key, value]) => [`${PREFIX}${key}`, value]),
  );
  return { scope: "cluster", name: "cluster", annotations };
}

/**
 * Checks a parsed configuration. Unlike an annotation, a mistake here is the operator's at start-up: the caller
 * prints every problem and refuses to start.
 */
export function readClusterConfig(value: unknown): {
  readonly config: ClusterConfig;
  readonly problems: readonly Problem[];
} {
  const problems: Problem[] = [];
  if (value === undefined || value === null) return { config: DEFAULT_CONFIG, problems };
  if (!isRecord(value)) {
    problems.push({
      code: "bad_value",
      where: "configuration",
      message: "Expected a mapping with defaults, profiles and onInvalid.",
    });
    return { config: DEFAULT_CONFIG, problems };
  }
  for (const key of Object.keys(value)) {
    if (KEYS.includes(key)) continue;
    const guess = nearest(key, KEYS);
    problems.push({
      code: "unknown_annotation",
      where: "configuration",
      message: `There is no ${quote(key)}; ${guess === undefined ? `known are ${KEYS.join(", ")}` : `did you mean ${guess}?`}`,
    });
  }
  const defaults = readSet(value["defaults"], "defaults", problems);
  const profiles: Record<string, Readonly<Record<string, unknown>>> = {};
  const sets = value["profiles"] ?? {};
  if (isRecord(sets)) {
    for (const [name, set] of Object.entries(sets)) profiles[name] = readSet(set, `profiles.${name}`, problems);
  } else
    problems.push({
      code: "bad_value",
      where: "profiles",
      message: "Expected a mapping from profile names to values.",
    });
  const onInvalid = value["onInvalid"] ?? "warn";
  if (!isOnInvalid(onInvalid)) {
    problems.push({
      code: "bad_value",
      where: "onInvalid",
      message: `Got ${quote(String(onInvalid))}, expected one of warn, skip, deny.`,
    });
  }
  return { config: { defaults, profiles, onInvalid: isOnInvalid(onInvalid) ? onInvalid : "warn" }, problems };
}

const KEYS: readonly string[] = ["defaults", "profiles", "onInvalid"];

function readSet(value: unknown, where: string, problems: Problem[]): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) {
    problems.push({ code: "bad_value", where, message: "Expected a mapping from annotation names to text." });
    return {};
  }
  for (const [name, text] of Object.entries(value)) {
    const field = FIELDS.find((candidate) => ANNOTATIONS[candidate].name === name);
    if (field === undefined || !ANNOTATIONS[field].scopes.includes("cluster")) {
      const guess = nearest(
        name,
        FIELDS.map((candidate) => ANNOTATIONS[candidate].name),
      );
      problems.push({
        code: "unknown_annotation",
        where,
        message: `${quote(name)} cannot be set here${guess === undefined || guess === name ? "" : `; did you mean ${guess}?`}.`,
      });
    } else if (typeof text !== "string" || ANNOTATIONS[field].codec.parse(text) === undefined) {
      const got = typeof text === "string" ? quote(text) : `a ${text === null ? "null" : typeof text}`;
      problems.push({
        code: "bad_value",
        where: `${where}.${name}`,
        message: `Got ${got}, expected ${ANNOTATIONS[field].codec.expects}, as text.`,
      });
    }
  }
  return value;
}

function isOnInvalid(value: unknown): value is OnInvalid {
  return value === "warn" || value === "skip" || value === "deny";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
