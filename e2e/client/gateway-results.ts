/** Records the measurements of gateways in build/e2e/gateways.json, from which `npm run table:gateways` writes the guides' tables. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LoadKind } from "../programs/gateway-load-kinds.ts";
import type { Ending } from "./gateway-endings.ts";

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
  readonly ownMiB?: number | undefined;
  readonly lastcallMiB?: number | undefined;
};

const GATEWAY_RESULTS = join(import.meta.dirname, "../../build/e2e/gateways.json");

export function readGatewayResults(): readonly GatewayResult[] {
  return existsSync(GATEWAY_RESULTS) ? JSON.parse(readFileSync(GATEWAY_RESULTS, "utf8")) : [];
}

/** Replaces the earlier result of the same gateway, ending and load. */
export function recordGatewayResult(result: GatewayResult): void {
  const isSame = ({ gateway, ending, load }: GatewayResult) =>
    gateway === result.gateway && ending === result.ending && load === result.load;
  const results = [...readGatewayResults().filter((other) => !isSame(other)), result];
  mkdirSync(dirname(GATEWAY_RESULTS), { recursive: true });
  writeFileSync(GATEWAY_RESULTS, `${JSON.stringify(results, null, 1)}\n`);
}
