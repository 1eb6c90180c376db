/** What the end of a Pod in a mesh measured: one line of the results. */
import type { EnvoyResult } from "../envoy/envoy-result.ts";
import type { Calls } from "./istio-app.ts";
import type { IstioCase } from "./istio-case.ts";

export type IstioResult = Omit<EnvoyResult, "kind" | "scene" | "cut" | "refused" | "stayedSeconds"> & {
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
