/** Reads a user's Deployment from a file, and finds what keeps it from running on this machine. */
import { accessSync, constants, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { parseAllDocuments } from "yaml";
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import { listAt, objectAt, textAt } from "../json.ts";
import { STOP_SIGNALS, stopSignalOf } from "../pods/kubelet-rules.ts";
import { type ContainerPlan, planPod } from "../pods/pod-plan.ts";
import { podOf, servicePort } from "./deployment.ts";

type DeploymentReading = { readonly deployment: object; readonly problems: readonly string[] };

/** The first Deployment of a file of YAML or JSON; every problem is a sentence. */
export async function readDeployment(path: string): Promise<DeploymentReading> {
  const refused = (problem: string): DeploymentReading => ({ deployment: {}, problems: [`${path} ${problem}`] });
  try {
    const documents = parsedDocuments(await readFile(path, "utf8"));
    const deployment = documents.find((document) => textAt(document, "kind") === "Deployment");
    if (deployment === undefined) return refused("holds no Deployment.");
    return { deployment: objectAt(deployment), problems: deploymentProblems(objectAt(deployment)) };
  } catch (error) {
    const why = UNREADABLE.get(error instanceof Error && "code" in error ? String(error.code) : "");
    return refused(why === undefined ? `is no YAML or JSON: ${firstLine(error)}` : `cannot be read: ${why}.`);
  }
}

const UNREADABLE: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "there is no such file"],
  ["EISDIR", "it is a folder"],
  ["EACCES", "reading it is not permitted"],
]);

/** @throws Error of the parser, also for aliases that multiply without end */
function parsedDocuments(text: string): readonly unknown[] {
  const documents = parseAllDocuments(text);
  const broken = documents.flatMap((document) => document.errors)[0];
  if (broken !== undefined) throw broken;
  return documents.map((document) => document.toJS());
}

/** Leaves out the excerpt of the text, which may hold control characters. */
function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line.replace(/:$/, "");
}

function deploymentProblems(deployment: object): string[] {
  const name = textAt(deployment, "metadata", "name") ?? "";
  const pod = podOf(deployment, "");
  const problems = planPod(pod)
    .containers.filter((container) => container.name !== MANAGER_CONTAINER && container.command.length === 0)
    .map(
      (container) =>
        `Container ${container.name} of Deployment ${name} names no command; images are not run here, so write one.`,
    );
  for (const container of listAt(pod, "spec", "containers")) {
    const signal = textAt(container, "lifecycle", "stopSignal");
    if (signal === undefined || stopSignalOf(signal) !== undefined) continue;
    const where = `Container ${textAt(container, "name") ?? ""} of Deployment ${name}`;
    problems.push(`${where} has the stopSignal ${signal}, expected one of ${STOP_SIGNALS.join(", ")}.`);
  }
  if (listAt(pod, "spec", "containers").length === 0) problems.push(`Deployment ${name} has no containers.`);
  const port = servicePort(deployment);
  if (port === 0)
    problems.push(`Deployment ${name} names no port; add a containerPort to the container that takes requests.`);
  else if (!Number.isInteger(port) || port < 0 || port > 65_535)
    problems.push(`Deployment ${name} names containerPort ${port}, expected 1 to 65535.`);
  return problems;
}

export type MachinePorts = {
  readonly isProgram: (path: string) => boolean;
  readonly isFolder: (path: string) => boolean;
  /** Relative paths start here. */
  readonly directory: string;
  /** The PATH that an image would set. */
  readonly searchPath: string;
};

export function thisMachine(searchPath: string): MachinePorts {
  return {
    isProgram: (path) => kindAt(path) === "file" && isPermitted(path, constants.X_OK),
    isFolder: (path) => kindAt(path) === "folder",
    directory: process.cwd(),
    searchPath,
  };
}

/** One sentence for each container that cannot start here; otherwise the demo would find out after 30 s. */
export function unrunnable(deployment: object, machine: MachinePorts): readonly string[] {
  return planPod(podOf(deployment, "")).containers.flatMap((container) => problemOf(container, machine));
}

function problemOf(container: ContainerPlan, machine: MachinePorts): readonly string[] {
  const { name, variables, directory = machine.directory } = container;
  const [program = ""] = container.command;
  if (!machine.isFolder(directory))
    return [`Container ${name} has the workingDir ${directory}, which is no folder here.`];
  // A variable has no value before the container starts.
  if (program === "" || program.includes("$(")) return [];
  const searchPath = variables.find((variable) => variable.name === "PATH")?.value ?? machine.searchPath;
  const places = isAbsolute(program)
    ? [program]
    : (program.includes("/") ? [directory] : searchPath.split(":")).map((folder) => join(folder, program));
  if (places.some(machine.isProgram)) return [];
  const where = program.includes("/") ? "is no program here" : "is in no folder of PATH";
  return [`Container ${name} runs ${program}, which ${where}; install it or name another command.`];
}

/** Finds an unwritable picture before the run instead of after it. An empty path stands for no picture. */
export function pictureProblems(path: string): readonly string[] {
  if (path === "") return [];
  const kind = kindAt(path);
  const isWritable = kind === "file" ? isPermitted(path, constants.W_OK) : isPermitted(dirname(path), constants.W_OK);
  if (isWritable && kind !== "folder") return [];
  return [`--svg got "${path}", which cannot be written; name a file in a folder that exists.`];
}

function kindAt(path: string): "file" | "folder" | "nothing" {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    return "nothing";
  }
}

function isPermitted(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
