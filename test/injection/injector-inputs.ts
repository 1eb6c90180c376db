/** Injects Pods with default inputs. */
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

export type InjectorInputs = {
  readonly request?: Partial<InjectionRequest>;
  readonly config?: Partial<ClusterConfig>;
  readonly facts?: Partial<ClusterFacts>;
  readonly token?: string;
};

export function inject(pod: object, inputs: InjectorInputs = {}): Outcome {
  return injectPod(
    { pod, namespace: "shop", optIn: "all", namespaceAnnotations: {}, overrides: [], ...inputs.request },
    { ...DEFAULT_CONFIG, ...inputs.config },
    { ...FACTS, ...inputs.facts },
    { newToken: () => inputs.token ?? TOKEN },
  );
}

/** Injects the Pod. @throws if the Pod is not patched */
export function injectedPodOf(pod: object, inputs: InjectorInputs = {}): object {
  const outcome = inject(pod, inputs);
  if (outcome.kind !== "patched") throw new Error(`not patched: ${JSON.stringify(outcome)}`);
  return outcome.pod;
}

export function problemCodesOf(outcome: Outcome): readonly string[] {
  return outcome.explanation.problems.map((problem) => problem.code);
}
