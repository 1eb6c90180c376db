/** Rolls a Deployment of real programs on this machine, in network namespaces that end with it. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { offerNamespaces, runInside } from "../../../src/demo/network/private-namespaces.ts";
import { missing, type Skipping } from "../install/required-program.ts";
import type { RollRequest, RollResult } from "./roll-request.ts";

const INSIDE = join(import.meta.dirname, "roll-inside.ts");

/** Rejects with the harness's last words when a Pod does not do its part. Leaves the case where namespaces are impossible. */
export async function roll(
  request: RollRequest,
  context: Skipping & { readonly signal: AbortSignal },
): Promise<RollResult> {
  const offer = offerNamespaces();
  if (!offer.possible) return missing(`network namespaces cannot be made here: ${offer.why}`, context);
  const scratch = await mkdtemp(join(tmpdir(), "lastcall-roll-"));
  const files = { request: join(scratch, "request.json"), result: join(scratch, "result.json") };
  try {
    await writeFile(files.request, JSON.stringify(request));
    const status = await runInside({
      prefix: offer.prefix,
      command: [process.execPath, INSIDE, files.request, files.result, scratch],
      environment: process.env,
      stop: context.signal,
    });
    if (status !== 0) throw new Error(`the rollout ended with status ${status}; its own words are above`);
    return JSON.parse(await readFile(files.result, "utf8"));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
