/** Renders the chart with Helm and reads its objects. */
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

export type Helm = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

/** `allowsEmptyRegistry` is true by default; only tests of registries set one. */
export type Where = {
  readonly allowsEmptyRegistry?: boolean;
  readonly namespace?: string;
  readonly kubernetes?: string;
  readonly args?: readonly string[];
};

/** Runs Helm without a cluster and without the host's settings; values are passed as JSON, which is YAML. */
export function helm(args: readonly string[], values: Values = {}): Helm {
  const env = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", KUBECONFIG: "/dev/null" };
  const options = { input: JSON.stringify(values), env, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 } as const;
  const { status, stdout, stderr, error } = spawnSync(inject("helm"), [...args], options);
  if (error !== undefined) throw error;
  return { status, stdout, stderr };
}

export function renderText(values: Values = {}, where: Where = {}): Helm {
  const place = ["--namespace", where.namespace ?? "lastcall", "--kube-version", where.kubernetes ?? "1.35.0"];
  const registry = `image.allowEmptyRegistry=${where.allowsEmptyRegistry ?? true}`;
  return helm(["template", "lastcall", CHART, ...place, "--set", registry, ...(where.args ?? []), "-f", "-"], values);
}

/** Returns Helm's error for these values, or "" if they are valid. */
export function complaint(values: Values, namespace = "lastcall"): string {
  const { status, stderr } = renderText(values, { namespace });
  return status === 0 ? "" : stderr;
}

/**
 * Removes the informational lines of Helm's API client, which begin with the letter I: it logs one when a watch
 * of its own is cut at the end.
 */
export function complaintsIn(stderr: string): string {
  return stderr.replaceAll(/^I[0-9]{4} [0-9:.]+ +[0-9]+ \S+\.go:[0-9]+\] .*\n/gm, "");
}

const rendered = new Map<string, readonly Manifest[]>();

/** Caches renderings per file, since the same values give the same objects. */
export function render(values: Values = {}, where: Where = {}): readonly Manifest[] {
  const key = JSON.stringify([values, where]);
  const manifests = rendered.get(key) ?? parseRendering(renderText(values, where));
  rendered.set(key, manifests);
  return manifests;
}

function parseRendering({ status, stdout, stderr }: Helm): readonly Manifest[] {
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
export function only(manifests: readonly Manifest[], kind: string): Manifest {
  const found = ofKind(manifests, kind).filter((manifest) => !isHook(manifest));
  if (found.length !== 1 || found[0] === undefined) throw new Error(`there are ${found.length} of kind ${kind}`);
  return found[0];
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
