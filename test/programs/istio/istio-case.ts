/** Which Pod of a mesh is ended, and what is asked of its end. Pure. */
import { VERSIONS } from "../envoy/cases.ts";
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
