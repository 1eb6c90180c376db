/** Reads the user's Deployment and validates that it can run on this machine. */
import { accessSync, constants, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { parseAllDocuments } from "yaml";
import { MANAGER_CONTAINER } from "../../contract/manager-environment.ts";
import { listAt, objectAt, textAt } from "../json.ts";
import { STOP_SIGNALS, stopSignalOf } from "../pods/kubelet-rules.ts";
import { type ContainerPlan, planPod } from "../pods/pod-plan.ts";
import { podOf, servicePort } from "./deployment.ts";

type ReadDeployment = { readonly deployment: object; readonly problems: readonly string[] };

export async function readDeployment(path: string): Promise<ReadDeployment> {
  const readFailure = (problem: string): ReadDeployment => ({ deployment: {}, problems: [`${path} ${problem}`] });
  try {
    const documents = parsedDocuments(await readFile(path, "utf8"));
    const deployment = documents.find((document) => textAt(document, "kind") === "Deployment");
    if (deployment === undefined) return readFailure("does not contain a Deployment.");
    return { deployment: objectAt(deployment), problems: deploymentProblems(objectAt(deployment)) };
  } catch (error) {
    const reason = UNREADABLE.get(error instanceof Error && "code" in error ? String(error.code) : "");
    return readFailure(
      reason === undefined ? `is not YAML or JSON: ${firstLine(error)}` : `cannot be read: ${reason}.`,
    );
  }
}

const UNREADABLE: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "the file does not exist"],
  ["EISDIR", "it is a directory"],
  ["EACCES", "permission denied"],
]);

/** @throws Error of the parser, also for excessive aliases */
function parsedDocuments(text: string): readonly unknown[] {
  const documents = parseAllDocuments(text);
  const firstError = documents.flatMap((document) => document.errors)[0];
  if (firstError !== undefined) throw firstError;
  return documents.map((document) => document.toJS());
}

/** Omits the other lines, because they quote the file, which may contain control characters. */
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
        `Container ${container.name} of Deployment ${name} has no command; set one, because the demo does not run images.`,
    );
  for (const container of listAt(pod, "spec", "containers")) {
    const signal = textAt(container, "lifecycle", "stopSignal");
    if (signal === undefined || stopSignalOf(signal) !== undefined) continue;
    const where = `Container ${textAt(container, "name") ?? ""} of Deployment ${name}`;
    problems.push(`${where} has the stopSignal ${signal}, expected one of ${STOP_SIGNALS.join(", ")}.`);
  }
  if (listAt(pod, "spec", "containers").length === 0) problems.push(`Deployment ${name} has no containers; add one.`);
  const port = servicePort(deployment);
  if (port === 0)
    problems.push(`Deployment ${name} has no containerPort; add one to the container that serves requests.`);
  else if (!Number.isInteger(port) || port < 0 || port > 65_535)
    problems.push(`Deployment ${name} has containerPort ${port}, expected 1 to 65535.`);
  return problems;
}

export type MachinePorts = {
  readonly isProgram: (path: string) => boolean;
  readonly isFolder: (path: string) => boolean;
  readonly directory: string;
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

/** Reports containers that cannot start here; the demo itself would report them only after 30 s. */
export function startProblems(deployment: object, machine: MachinePorts): readonly string[] {
  return planPod(podOf(deployment, "")).containers.flatMap((container) => containerProblems(container, machine));
}

function containerProblems(container: ContainerPlan, machine: MachinePorts): readonly string[] {
  const { name, variables, directory = machine.directory } = container;
  const [program = ""] = container.command;
  if (!machine.isFolder(directory))
    return [
      `Container ${name} has the workingDir ${directory}, which is not a directory on this machine; create it or change the workingDir.`,
    ];
  // The program is unknown: variables get their values only at the start of the container.
  if (program === "" || program.includes("$(")) return [];
  const searchPath = variables.find((variable) => variable.name === "PATH")?.value ?? machine.searchPath;
  const candidates = isAbsolute(program)
    ? [program]
    : (program.includes("/") ? [directory] : searchPath.split(":")).map((folder) => join(folder, program));
  if (candidates.some(machine.isProgram)) return [];
  const reason = program.includes("/") ? "is not an executable file on this machine" : "is not in PATH";
  return [`Container ${name} runs ${program}, which ${reason}; install it or change the command.`];
}

/** Validates the path before the run instead of after it. An empty path disables the image. */
export function svgProblems(path: string): readonly string[] {
  if (path === "") return [];
  const kind = kindAt(path);
  const isWritable = kind === "file" ? isPermitted(path, constants.W_OK) : isPermitted(dirname(path), constants.W_OK);
  if (isWritable && kind !== "folder") return [];
  return [`--svg: cannot write "${path}"; set a file in a directory that exists and is writable.`];
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
