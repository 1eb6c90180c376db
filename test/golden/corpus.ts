/**
 * Reads the golden cases, which the tests of webhook and command line share.
 *
 * A case is a folder: `input.yaml` (one Pod), `settings.yaml` (differences from the default cluster, if any),
 * `report.txt` (the decision with its reason) and, for a changed Pod, `patch.yaml` (the operations of its patch).
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import jsonPatch, { type Operation } from "fast-json-patch";
import { parse } from "yaml";
import type { ClusterFacts, InjectionRequest } from "../../src/injection/inject.ts";
import { readLimitRange } from "../../src/kubernetes/limit-range.ts";
import type { RawObject } from "../../src/kubernetes/raw-json.ts";
import { type ClusterConfig, DEFAULT_CONFIG } from "../../src/policy/cluster-config.ts";

export const CORPUS = import.meta.dirname;

export type GoldenCase = {
  readonly name: string;
  readonly folder: string;
  readonly request: InjectionRequest;
  readonly config: ClusterConfig;
  readonly facts: ClusterFacts;
  /** The hook token, which is constant for each case. A test with other tokens replaces them before it compares the Pods. */
  readonly token: string;
};

type Settings = {
  readonly namespace?: string;
  readonly optIn?: "label" | "all";
  readonly namespaceAnnotations?: Readonly<Record<string, unknown>>;
  readonly config?: Partial<ClusterConfig>;
  /** `lowestKubeletVersion: null` means unknown. */
  readonly facts?: {
    readonly apiServerVersion?: string;
    readonly lowestKubeletVersion?: string | null;
    /** Complete objects, as `kubectl get limitrange -o yaml` prints them. */
    readonly limitRanges?: readonly RawObject[];
    readonly managerPullPolicy?: "Always" | "IfNotPresent" | "Never";
    readonly pullSecrets?: readonly string[];
    readonly imagePullError?: string;
  };
};

const DEFAULT_FACTS: ClusterFacts = {
  apiServerVersion: "v1.34.1",
  lowestKubeletVersion: "v1.33.0",
  managerImage: "registry.example/lastcall-manager:0.1.0",
  systemNamespaces: ["kube-system"],
};

export function listGoldenNames(): readonly string[] {
  return readdirSync(CORPUS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

export function readGoldenCase(name: string): GoldenCase {
  const folder = join(CORPUS, name);
  const settingsFile = join(folder, "settings.yaml");
  const settings = (existsSync(settingsFile) ? parse(readFileSync(settingsFile, "utf8")) : {}) as Settings;
  const { lowestKubeletVersion, limitRanges, ...facts } = settings.facts ?? {};
  return {
    name,
    folder,
    request: {
      pod: parse(readFileSync(join(folder, "input.yaml"), "utf8")) as object,
      namespace: settings.namespace ?? "shop",
      optIn: settings.optIn ?? "all",
      namespaceAnnotations: settings.namespaceAnnotations ?? {},
      overrides: [],
    },
    config: { ...DEFAULT_CONFIG, ...settings.config },
    facts: {
      ...DEFAULT_FACTS,
      ...facts,
      ...(lowestKubeletVersion === undefined ? {} : { lowestKubeletVersion: lowestKubeletVersion ?? undefined }),
      ...(limitRanges === undefined ? {} : { limitRanges: limitRanges.map(readLimitRange) }),
    },
    token: createHash("sha256").update(`golden ${name}`).digest("hex").slice(0, 32),
  };
}

/** Returns the expected Pod: the case's input after the operations of `patch.yaml`. */
export function expectedPodOf({ folder, request }: GoldenCase): object {
  const file = join(folder, "patch.yaml");
  if (!existsSync(file)) return request.pod;
  const operations = parse(readFileSync(file, "utf8")) as Operation[];
  return jsonPatch.applyPatch(structuredClone(request.pod), operations, true).newDocument;
}
