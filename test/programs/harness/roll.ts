/** Rolls a Deployment of real programs on this machine, in network namespaces that end with it. */
import { join } from "node:path";
import { insideNamespaces, type Stoppable } from "./inside-namespaces.ts";
import type { RollRequest, RollResult } from "./roll-request.ts";

const INSIDE = join(import.meta.dirname, "roll-inside.ts");

/** Rejects with the harness's last words when a Pod does not do its part. Leaves the case where namespaces are impossible. */
export async function roll(request: RollRequest, context: Stoppable): Promise<RollResult> {
  return (await insideNamespaces(INSIDE, request, context)) as RollResult;
}
