/** Runs a script as PID 1 of new PID and network namespaces: when it exits, the kernel kills its remaining processes. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { detectNamespaces, runInside } from "../../../src/demo/network/namespace-network.ts";
import { type SkipContext, skipCase } from "../install/program-of.ts";

export type CaseContext = SkipContext & { readonly signal: AbortSignal };

/**
 * Passes a JSON request to the script and resolves with its JSON result; in the script, `namespace-script.ts` reads the
 * request and writes the result. Rejects if the script fails; the script inherits stderr. Skips the case if the host does not
 * support namespaces.
 */
export async function insideNamespaces<Result>(script: string, request: object, context: CaseContext): Promise<Result> {
  const namespaces = detectNamespaces();
  if (!namespaces.supported) return skipCase(`network namespaces are not available: ${namespaces.reason}`, context);
  const scratch = await mkdtemp(join(tmpdir(), "inside-"));
  const files = { request: join(scratch, "request.json"), result: join(scratch, "result.json") };
  try {
    await writeFile(files.request, JSON.stringify(request));
    const status = await runInside({
      prefix: namespaces.prefix,
      command: [process.execPath, script, files.request, files.result, scratch],
      environment: process.env,
      stop: context.signal,
    });
    if (status !== 0)
      throw new Error(`the script in the namespaces exited with status ${status}; see its stderr above`);
    return JSON.parse(await readFile(files.result, "utf8"));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
