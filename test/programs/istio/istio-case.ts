/** Lists the cases with Istio's sidecar and defines their result. Pure. */
import { VERSIONS } from "../envoy/envoy-cases.ts";
import type { EnvoyResult } from "../envoy/envoy-result.ts";
import type { CallCounts } from "./istio-app.ts";
import type { IstioPodParts } from "./istio-pod.ts";

export type IstioCase = Pick<IstioPodParts, "form" | "statistics"> & { readonly version: (typeof VERSIONS)[number] };

export const ISTIO_CASES: readonly IstioCase[] = VERSIONS.flatMap((version) => [
  { version, form: "native" as const, statistics: "cut" as const },
  { version, form: "native" as const, statistics: "all" as const },
  { version, form: "classic" as const, statistics: "cut" as const },
  { version, form: "classic" as const, statistics: "all" as const },
]);

export function istioCaseName({ version, form, statistics }: IstioCase): string {
  return `istio-${version.replace(".", "-")}-${form}-${statistics}`;
}

export type IstioResult = Omit<EnvoyResult, "kind" | "scenario" | "cut" | "refused"> & {
  readonly kind: "istio";
  readonly form: IstioCase["form"];
  readonly statistics: IstioCase["statistics"];
  readonly calls: CallCounts;
  readonly proxyAfterAppSeconds: number;
  readonly driverWarning: string;
};
