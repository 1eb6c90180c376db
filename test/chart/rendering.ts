/** Renders the chart with Helm and parses its objects. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { inject } from "vitest";
import { parseAllDocuments } from "yaml";

export const CHART = join(import.meta.dirname, "../../charts/lastcall");

export type Values = Readonly<Record<string, unknown>>;

/** An API object; tests read fields that they expect to exist. */
export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
};

export type HelmResult = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

/** `allowsEmptyRegistry` is true by default; only the test of registries sets it to false. */
export type RenderOptions = {
  readonly allowsEmptyRegistry?: boolean;
  readonly namespace?: string;
  readonly kubernetes?: string;
  readonly args?: readonly string[];
};

/** Runs Helm without a cluster and without the host's settings; values are passed as JSON, which is YAML. */
export function helm(args: readonly string[], values: Values = {}): HelmResult {
  const env = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", KUBECONFIG: "/dev/null" };
  const options = { input: JSON.stringify(values), env, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
  const { status, stdout, stderr, error } = spawnSync(inject("helm"), [...args], options);
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

export function renderText(values: Values = {}, options: RenderOptions = {}): HelmResult {
  const flags = ["--namespace", options.namespace ?? "lastcall", "--kube-version", options.kubernetes ?? "1.35.0"];
  const registryValue = `image.allowEmptyRegistry=${options.allowsEmptyRegistry ?? true}`;
  return helm(
    ["template", "lastcall", CHART, ...flags, "--set", registryValue, ...(options.args ?? []), "-f", "-"],
    values,
  );
}

/** Returns Helm's error for these values, or "" if they are valid. */
export function renderError(values: Values, namespace = "lastcall"): string {
  const { status, stderr } = renderText(values, { namespace });
  return status === 0 ? "" : stderr;
}

/**
 * Removes the informational log lines of Helm's API client, which begin with the letter I. The client logs such a line when Helm
 * cancels its watch at the end.
 */
export function removeInfoLines(stderr: string): string {
  return stderr.replaceAll(/^I[0-9]{4} [0-9:.]+ +[0-9]+ \S+\.go:[0-9]+\] .*\n/gm, "");
}

const renderings = new Map<string, readonly Manifest[]>();

/** Renders the chart once per set of values; the cache is per test file. */
export function render(values: Values = {}, options: RenderOptions = {}): readonly Manifest[] {
  const key = JSON.stringify([values, options]);
  const manifests = renderings.get(key) ?? parseRendering(renderText(values, options));
  renderings.set(key, manifests);
  return manifests;
}

function parseRendering({ status, stdout, stderr }: HelmResult): readonly Manifest[] {
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout)
    .map((document) => {
      if (document.errors[0] !== undefined) throw document.errors[0];
      return document.toJS() as Manifest | null;
    })
    .filter((manifest) => manifest !== null);
}

export function ofKind(manifests: readonly Manifest[], kind: string): readonly Manifest[] {
  return manifests.filter((manifest) => manifest.kind === kind);
}

/** Returns the only object of its kind outside of hooks. */
export function onlyOfKind(manifests: readonly Manifest[], kind: string): Manifest {
  const matches = ofKind(manifests, kind).filter((manifest) => !isHook(manifest));
  if (matches.length !== 1 || matches[0] === undefined)
    throw new Error(`the chart renders ${matches.length} objects of kind ${kind}, expected 1`);
  return matches[0];
}

export function isHook(manifest: Manifest): boolean {
  return manifest.metadata.annotations?.["helm.sh/hook"] !== undefined;
}

export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key], value);
}

export function listOf<T>(value: unknown, ...path: readonly (string | number)[]): readonly T[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? (found as readonly T[]) : [];
}
