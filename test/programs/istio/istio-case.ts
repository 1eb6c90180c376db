/** Which Pods of a mesh are ended, and what is measured: one line of the results. Pure. */
import { VERSIONS } from "../envoy/cases.ts";
import type { EnvoyResult } from "../envoy/envoy-result.ts";
import type { Calls } from "./istio-app.ts";
import type { IstioPodParts } from "./istio-pod.ts";

export type IstioCase = Pick<IstioPodParts, "form" | "statistics"> & { readonly version: (typeof VERSIONS)[number] };

export const ISTIO_CASES: readonly IstioCase[] = VERSIONS.flatMap((version) => [
  { version, form: "native" as const, statistics: "cut" as const },
  { version, form: "native" as const, statistics: "all" as const },
  { version, form: "classic" as const, statistics: "cut" as const },
  { version, form: "classic" as const, statistics: "all" as const },
]);

export function istioName({ version, form, statistics }: IstioCase): string {
  return `istio-${version.replace(".", "-")}-${form}-${statistics}`;
}

export type IstioResult = Omit<EnvoyResult, "kind" | "scene" | "cut" | "refused"> & {
  readonly kind: "istio";
  readonly form: IstioCase["form"];
  readonly statistics: IstioCase["statistics"];
  /** What the app's own calls came to, through the same proxy. */
  readonly calls: Calls;
  /** From the app's end to the proxy's stop signal. */
  readonly proxyAfterAppSeconds: number;
  /** What the driver said when it could not count. */
  readonly driverNote: string;
};
