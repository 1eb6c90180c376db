/** The injector's inputs beside the Pod, as most tests set them. */
import type { ClusterFacts, InjectionRequest } from "../../src/injection/inject.ts";
import { injectPod } from "../../src/injection/inject.ts";
import type { Outcome } from "../../src/injection/outcome.ts";
import { type ClusterConfig, DEFAULT_CONFIG } from "../../src/policy/cluster-config.ts";

export const FACTS: ClusterFacts = {
  apiServerVersion: "v1.34.1",
  lowestKubeletVersion: "v1.33.0",
  managerImage: "registry.example/lastcall-manager:0.1.0",
  systemNamespaces: ["kube-system", "lastcall"],
};

export const TOKEN = "0123456789abcdef0123456789abcdef";

export type Given = {
  readonly request?: Partial<InjectionRequest>;
  readonly config?: Partial<ClusterConfig>;
  readonly facts?: Partial<ClusterFacts>;
  readonly token?: string;
};

export function inject(pod: object, given: Given = {}): Outcome {
  return injectPod(
    { pod, namespace: "shop", optIn: "all", namespaceAnnotations: {}, overrides: [], ...given.request },
    { ...DEFAULT_CONFIG, ...given.config },
    { ...FACTS, ...given.facts },
    { newToken: () => given.token ?? TOKEN },
  );
}

/** Injects the Pod and expects a patch. */
export function injected(pod: object, given: Given = {}): object {
  const outcome = inject(pod, given);
  if (outcome.kind !== "patched") throw new Error(`not patched: ${JSON.stringify(outcome)}`);
  return outcome.pod;
}

export function codes(outcome: Outcome): readonly string[] {
  return outcome.explanation.problems.map((problem) => problem.code);
}
