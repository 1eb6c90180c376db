/** Plays the cases on this machine, in namespaces that end with it. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { offerNamespaces, runInside } from "../../../src/demo/network/namespace-network.ts";
import { missing, type Skipping } from "../install/program-of.ts";

/**
 * @param script process 1 of the namespaces: gets the files of its request and its result, and a folder for what it needs
 * @returns what it wrote. Leaves the case where namespaces are impossible.
 */
export async function playInside<Result>(
  script: string,
  request: object,
  context: Skipping & { readonly signal: AbortSignal },
): Promise<Result> {
  const offer = offerNamespaces();
  if (!offer.possible) return missing(`network namespaces cannot be made here: ${offer.why}`, context);
  const folder = await mkdtemp(join(tmpdir(), "lastcall-envoy-"));
  const files = { request: join(folder, "request.json"), result: join(folder, "result.json") };
  try {
    await writeFile(files.request, JSON.stringify(request));
    const status = await runInside({
      prefix: offer.prefix,
      command: [process.execPath, script, files.request, files.result, folder],
      environment: process.env,
      stop: context.signal,
    });
    if (status !== 0) throw new Error(`the scenes ended with status ${status}; their own words are above`);
    return JSON.parse(await readFile(files.result, "utf8"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
