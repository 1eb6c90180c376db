/** Lists the cases: each scenario with each version of Envoy and one or both builds of the manager. Pure. */
import type { EnvoyResult } from "./envoy-result.ts";
import type { Scenario } from "./envoy-scenario.ts";
import { SCENARIOS } from "./envoy-scenarios.ts";

export const VERSIONS = ["1.40", "1.36"] as const;

export type EnvoyCase = {
  readonly scenario: Scenario;
  readonly version: (typeof VERSIONS)[number];
  readonly manager: EnvoyResult["manager"];
};

/** @param hasNativeManager if false, every case runs on Node */
export function envoyCases(hasNativeManager: boolean): readonly EnvoyCase[] {
  const manager = hasNativeManager ? "native" : "node";
  const cases = VERSIONS.flatMap((version) => SCENARIOS.map((scenario): EnvoyCase => ({ scenario, version, manager })));
  const nodeCases = SCENARIOS.filter((scenario) => hasNativeManager && scenario.alsoOnNode === true).map(
    (scenario): EnvoyCase => ({ scenario, version: VERSIONS[0], manager: "node" }),
  );
  return [...cases, ...nodeCases];
}

export function caseName({ scenario, version, manager }: EnvoyCase): string {
  return `${scenario.key}-${version.replace(".", "-")}-${manager}`;
}
