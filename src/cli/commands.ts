/** Runs `inject`, `uninject`, `diff` and `explain`. Each returns the exit status. */
import { createTwoFilesPatch } from "diff";
import { EXIT_CHECK_ERROR, EXIT_DIFFERENT, EXIT_DONE, EXIT_ERROR } from "./exit-statuses.ts";
import { explain } from "./explanation.ts";
import { explanationText, hasSucceeded, jsonReport, printProblems, printReport, writeManifests } from "./output.ts";
import type { Ports } from "./ports.ts";
import type { CommandRequest, ExplainRequest, InjectRequest } from "./request.ts";
import { type ChangedManifest, injectManifests, type Transformed, uninjectManifests } from "./transform.ts";

export async function runInject(request: InjectRequest, ports: Ports): Promise<number> {
  return writeResult(await injectManifests(request, ports), request.json, ports);
}

export async function runUninject(request: CommandRequest, ports: Ports): Promise<number> {
  return writeResult(await uninjectManifests(request, ports), request.json, ports);
}

function writeResult(result: Transformed, json: boolean, ports: Ports): number {
  if (printReport(result, json, ports.err)) writeManifests(result, ports);
  return hasSucceeded(result) ? EXIT_DONE : EXIT_ERROR;
}

export async function runDiff(request: InjectRequest, ports: Ports): Promise<number> {
  const result = await injectManifests(request, ports);
  const diffs = result.manifests.filter(({ before, after }) => before !== after).map(unifiedDiff);
  if (request.json) ports.out(`${JSON.stringify({ diffs, ...jsonReport(result) })}\n`);
  else if (printReport(result, false, ports.err)) for (const { diff } of diffs) ports.out(diff);
  if (!hasSucceeded(result)) return EXIT_CHECK_ERROR;
  return diffs.length > 0 ? EXIT_DIFFERENT : EXIT_DONE;
}

function unifiedDiff({ name, before, after }: ChangedManifest): { readonly file: string; readonly diff: string } {
  const file = name.replaceAll("\\", "/");
  const path = file.replace(/^\/+/, "");
  const patch = createTwoFilesPatch(`a/${path}`, `b/${path}`, before, after, undefined, undefined, { context: 3 });
  // The first line of the package's patch is a separator that git and kubectl do not print.
  return { file: name, diff: patch.replace(/^=+\n/, "") };
}

export async function runExplain(request: ExplainRequest, ports: Ports): Promise<number> {
  const result = await injectManifests(request, ports);
  const explanations = result.decisions.map((decision) => explain(decision, request));
  if (request.json) {
    const { warnings, problems } = result;
    ports.out(`${JSON.stringify({ workloads: explanations, warnings, problems })}\n`);
  } else {
    printProblems(result, ports.err);
    ports.out(explanations.map(explanationText).join("\n"));
  }
  return hasSucceeded(result) ? EXIT_DONE : EXIT_ERROR;
}
