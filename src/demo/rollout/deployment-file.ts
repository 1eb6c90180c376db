/** A user's Deployment from a file of YAML or JSON. */
import { readFile } from "node:fs/promises";
import { parseAllDocuments } from "yaml";
import { objectAt, textAt } from "../json.ts";
import { deploymentProblems } from "./deployment.ts";

type DeploymentReading = { readonly deployment: object; readonly problems: readonly string[] };

/** The first Deployment in the file; every problem is a sentence. */
export async function readDeployment(path: string): Promise<DeploymentReading> {
  const refused = (problem: string): DeploymentReading => ({ deployment: {}, problems: [`${path} ${problem}`] });
  let documents: readonly unknown[];
  try {
    documents = valuesIn(await readFile(path, "utf8"));
  } catch (error) {
    const why = WHY_UNREADABLE.get(codeOf(error));
    return refused(why === undefined ? `is no YAML or JSON: ${firstLine(error)}` : `cannot be read: ${why}.`);
  }
  const found = documents
    .map((document) => objectAt({ document }, "document"))
    .find((candidate) => textAt(candidate, "kind") === "Deployment");
  if (found === undefined) return refused("holds no Deployment.");
  return { deployment: found, problems: deploymentProblems(found) };
}

const WHY_UNREADABLE: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "there is no such file"],
  ["EISDIR", "it is a folder"],
  ["EACCES", "reading it is not permitted"],
]);

/** @throws what the parser says about text it cannot take, or about aliases that multiply without end. */
function valuesIn(text: string): readonly unknown[] {
  const documents = parseAllDocuments(text);
  const broken = documents.flatMap((document) => document.errors)[0];
  if (broken !== undefined) throw broken;
  return documents.map((document) => document.toJS());
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Without the excerpt of the text below it, which may be anything. */
function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line.replace(/:$/, "");
}
