/** Runs one of our scripts as process 1 of network namespaces that end with it: what it starts can outlive nothing. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { detectNamespaces, runInside } from "../../../src/demo/network/namespace-network.ts";
import { missing, type Skipping } from "../install/program-of.ts";

export type Stoppable = Skipping & { readonly signal: AbortSignal };

/**
 * What the script answers to a request, both plain JSON; `answer-inside.ts` is its side of this. Rejects when it fails, with
 * its last words above. Leaves the case where namespaces are impossible.
 */
export async function insideNamespaces<Result>(script: string, request: object, context: Stoppable): Promise<Result> {
  const offer = detectNamespaces();
  if (!offer.supported) return missing(`network namespaces cannot be made here: ${offer.reason}`, context);
  const scratch = await mkdtemp(join(tmpdir(), "inside-"));
  const files = { request: join(scratch, "request.json"), result: join(scratch, "result.json") };
  try {
    await writeFile(files.request, JSON.stringify(request));
    const status = await runInside({
      prefix: offer.prefix,
      command: [process.execPath, script, files.request, files.result, scratch],
      environment: process.env,
      stop: context.signal,
    });
    if (status !== 0) throw new Error(`the script in the namespaces ended with ${status}; its own words are above`);
    return JSON.parse(await readFile(files.result, "utf8"));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
