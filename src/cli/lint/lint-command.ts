/** Runs `lastcall lint`. */
import { type Command, Option } from "commander";
import { type Finding, lint } from "../../lint/lint.ts";
import { createManifestSet, type ManifestDocument } from "../../lint/manifest-set.ts";
import type { Profiles } from "../../policy/resolve.ts";
import { readConfig } from "../cluster-config-file.ts";
import { EXIT_CHECK_ERROR, EXIT_DONE, EXIT_FINDINGS } from "../exit-statuses.ts";
import { addFileFlags, commandRequest, type Flags, textFlag } from "../file-flags.ts";
import type { ParsedDocument } from "../manifest/parse.ts";
import { placeOf } from "../manifest/place-of.ts";
import { type OpenManifest, openManifests, problemLine, sourceName } from "../open-manifests.ts";
import type { Ports } from "../ports.ts";
import type { CommandRequest } from "../request.ts";
import { printable } from "../terminal-text.ts";
import { lintAnnotations, lintSarif, lintText } from "./formats.ts";
import { type LintReport, type ReportedFinding, reportFinding } from "./lint-report.ts";

const FORMATS: Readonly<Record<string, (report: LintReport) => string>> = {
  text: lintText,
  json: (report) => `${JSON.stringify(report)}\n`,
  github: lintAnnotations,
  sarif: lintSarif,
};

export function addLintCommand(program: Command, ports: Ports, finish: (status: number) => void): void {
  addFileFlags(program.command("lint").description("report shutdown mistakes in manifests, with or without lastcall"))
    .addOption(
      new Option("--format <format>", "text, json, github (workflow annotations) or sarif (2.1.0)")
        .choices(Object.keys(FORMATS))
        .default("text")
        .conflicts("json"),
    )
    .option("--config <file>", "cluster configuration with the profiles that annotations may use")
    .addHelpText("after", IGNORE_HELP)
    .action(async (options: Flags) => {
      const format = options["json"] === true ? "json" : String(options["format"]);
      const config = readConfig(textFlag(options, "config"), ports);
      if (config === undefined) finish(EXIT_CHECK_ERROR);
      else finish(await runLint({ ...commandRequest(options), format, profiles: config.profiles }, ports));
    });
}

const IGNORE_HELP = `
To silence a rule, annotate the object or its Pod template: ignore-check.lastcall.dev/RULE: reason.`;

type LintRequest = CommandRequest & { readonly format: string; readonly profiles: Profiles };

/** Prints the findings of readable documents even if others are unreadable. */
async function runLint(request: LintRequest, ports: Ports): Promise<number> {
  const { manifests, problems, warnings } = await openManifests(request, ports);
  for (const warning of warnings) ports.err(`warning: ${problemLine(warning)}\n`);
  for (const problem of problems) ports.err(`error: ${problemLine(problem)}\n`);
  const sources = manifests.flatMap(sourcesIn);
  const checkedManifests = createManifestSet(
    sources.map(({ document }) => document),
    request.namespace,
    request.profiles,
  );
  if (checkedManifests.objects.length + problems.length + warnings.length === 0)
    ports.err(printable(`nothing to do: no objects found in ${request.paths.map(sourceName).join(", ")}`).concat("\n"));
  const findings = withPlaces(lint(checkedManifests), sources);
  ports.out((FORMATS[request.format] ?? lintText)({ findings, warnings, problems }));
  if (problems.length > 0) return EXIT_CHECK_ERROR;
  return findings.length > 0 ? EXIT_FINDINGS : EXIT_DONE;
}

type Source = { readonly document: ManifestDocument; readonly text: string; readonly parsed: ParsedDocument };

function sourcesIn({ name, text, parsed }: OpenManifest): readonly Source[] {
  return parsed.documents.map((document) => ({
    document: { file: name, number: document.number, value: document.value, pods: document.pods },
    text,
    parsed: document,
  }));
}

function withPlaces(findings: readonly Finding[], sources: readonly Source[]): readonly ReportedFinding[] {
  return sources.flatMap(({ document, text, parsed }) =>
    findings
      .filter(({ at }) => at.document === document)
      .map((finding) => reportFinding(finding, placeOf(text, parsed.tree, finding.path)))
      .toSorted((first, second) => first.line - second.line),
  );
}
