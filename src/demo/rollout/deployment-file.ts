/** A user's Deployment from a file of YAML or JSON. */
import { readFile } from "node:fs/promises";
import { parseAllDocuments } from "yaml";
import { objectAt, textAt } from "../json-reading.ts";
import { deploymentProblems } from "./deployment.ts";

export type DeploymentReading = { readonly deployment: object; readonly problems: readonly string[] };

/** The first Deployment in the file; every problem is a sentence. */
export async function readDeployment(path: string): Promise<DeploymentReading> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return { deployment: {}, problems: [`${path} cannot be read.`] };
  const documents = parseAllDocuments(text);
  const broken = documents.flatMap((document) => document.errors)[0];
  if (broken !== undefined) return { deployment: {}, problems: [`${path} is no YAML or JSON: ${broken.message}`] };
  const found = documents
    .map((document) => objectAt({ document: document.toJS() }, "document"))
    .find((candidate) => textAt(candidate, "kind") === "Deployment");
  if (found === undefined) return { deployment: {}, problems: [`${path} holds no Deployment.`] };
  return { deployment: found, problems: deploymentProblems(found) };
}
