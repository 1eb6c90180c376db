/** Defines the measurements of gateways. */
import type { LoadKind } from "../programs/gateway-load-kinds.ts";
import type { Ending } from "./gateway-endings.ts";
import { resultsFile } from "./results-file.ts";

export type GatewayResult = {
  readonly gateway: string;
  readonly versions: string;
  readonly date: string;
  readonly ending: Ending;
  readonly load: LoadKind;
  readonly requests: number;
  readonly failed: number;
  readonly longestSeconds: number;
  readonly longestOverWaitSeconds: number;
  /** Largest resident memory of the managers in MiB; absent without a manager. */
  readonly ownManagerMiB?: number | undefined;
  readonly lastcallMiB?: number | undefined;
};

export const gatewayResults = resultsFile<GatewayResult>(
  "gateways.json",
  ({ gateway, ending, load }) => `${gateway}, ${ending}, ${load}`,
);
