import type { Layer } from "../../src/policy/resolve.ts";

/** Creates a layer for tests; the keys of `values` have no annotation prefix. */
export function pod(values: Readonly<Record<string, unknown>>): Layer {
  return { scope: "pod", name: "web-0", annotations: withPrefix(values) };
}

export function namespace(values: Readonly<Record<string, unknown>>): Layer {
  return { scope: "namespace", name: "shop", annotations: withPrefix(values) };
}

export function cluster(values: Readonly<Record<string, unknown>>): Layer {
  return { scope: "cluster", name: "cluster", annotations: withPrefix(values) };
}

function withPrefix(values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [`lastcall.dev/${key}`, value]));
}
