/** Defines and reads the flags that select manifests. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { readTemplatePath, type TemplatePath } from "../kubernetes/template-path.ts";
import { quote } from "../policy/quote.ts";
import type { CommandRequest } from "./request.ts";

export type Flags = Readonly<Record<string, unknown>>;

const DEFAULT_NAMESPACE = "default";

export function addFileFlags(command: Command): Command {
  return command
    .option(
      "-f, --filename <file>",
      "file, folder (recursive: *.yaml, *.yml, *.json) or - for standard input; repeatable",
      appendPath,
      [],
    )
    .option("-n, --namespace <name>", "namespace of documents that do not set a namespace", DEFAULT_NAMESPACE)
    .addOption(
      new Option(
        "--template-path <path>",
        "path of Pod templates in other kinds, such as spec.workers[].pod or Widget.example.com=spec.pod; repeatable",
      )
        .argParser(appendTemplatePath)
        .default([], "none"),
    )
    .option("--json", "report as JSON", false)
    .allowExcessArguments(false);
}

function appendPath(path: string, previousPaths: readonly string[]): readonly string[] {
  return [...previousPaths, path];
}

function appendTemplatePath(text: string, previousPaths: readonly TemplatePath[]): readonly TemplatePath[] {
  const path = readTemplatePath(text);
  if (path !== undefined) return [...previousPaths, path];
  throw new InvalidArgumentError(`Got ${quote(text)}, expected a path such as spec.workers[].pod or Kind=spec.pod.`);
}

export function commandRequest(options: Flags): CommandRequest {
  const filenames = options["filename"];
  const paths = Array.isArray(filenames) ? filenames.map(String) : [];
  return {
    paths: paths.length === 0 ? ["-"] : paths,
    json: options["json"] === true,
    templatePaths: options["templatePath"] as readonly TemplatePath[],
    namespace: textFlag(options, "namespace") ?? DEFAULT_NAMESPACE,
  };
}

export function textFlag(options: Flags, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}
