/** Runs commands of a documentation page as a reader would. */
import { readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { attempt } from "../host/run.ts";
import type { Suite } from "./suite.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Returns the lines of the code blocks below a heading, up to the next heading of its level. @throws if there are none */
export function documentedCommands(page: string, heading: string): readonly string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  const [, afterHeading] = text.split(`\n${heading}\n`);
  const level = heading.slice(0, heading.indexOf(" ") + 1);
  const section = (afterHeading ?? "").split(`\n${level}`)[0] ?? "";
  const blocks = [...section.matchAll(/^```[a-z]*\n(.*?)^```$/gms)].map(([, block]) => block ?? "");
  const lines = blocks
    .join("\n")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .map((line) => line.replace(/\s+#.*$/, "").trim());
  const commands = lines.filter((line) => /^(kubectl|helm) /.test(line));
  if (commands.length === 0) throw new Error(`${page} has no kubectl or helm command below "${heading}".`);
  return commands;
}

/** Runs in the repository, with the suite's kubectl and helm. @returns standard output. @throws with the command's output */
export async function runDocumented(suite: Suite, command: string, variables: Variables = {}): Promise<string> {
  const tools = [suite.kubectl, suite.helm].map((tool) => dirname(tool)).join(delimiter);
  const env = { ...process.env, PATH: `${tools}${delimiter}${process.env["PATH"]}`, KUBECONFIG: suite.kubeconfig };
  const { status, output, stderr } = await attempt("bash", ["-c", command], {
    cwd: ROOT,
    env: { ...env, ...variables },
  });
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr.trim()} ${output.trim()}`);
  return output;
}

/** Environment variables that replace the page's placeholders. */
export type Variables = Readonly<Record<string, string>>;
