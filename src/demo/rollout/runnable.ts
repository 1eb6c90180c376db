/** Whether this machine has what a Deployment's containers run: told before the demo, not after 30 s of waiting. Pure. */
import { isAbsolute, join } from "node:path";
import { type ContainerPlan, planPod } from "../pods/pod-plan.ts";
import { podOf } from "./deployment.ts";

export type MachinePorts = {
  readonly isProgram: (path: string) => boolean;
  readonly isFolder: (path: string) => boolean;
  /** Where relative paths start, and the PATH an image would set. */
  readonly directory: string;
  readonly searchPath: string;
};

/** One sentence for each container that cannot start here. */
export function unrunnable(deployment: object, machine: MachinePorts): readonly string[] {
  return planPod(podOf(deployment, "")).containers.flatMap((container) => problemOf(container, machine));
}

function problemOf(container: ContainerPlan, machine: MachinePorts): readonly string[] {
  const { name, command } = container;
  const [program = ""] = command;
  const directory = container.directory ?? machine.directory;
  if (!machine.isFolder(directory))
    return [`Container ${name} has the workingDir ${directory}, which is no folder here.`];
  // A variable is known only once the container starts.
  if (program === "" || program.includes("$(")) return [];
  if (placesOf(program, container, machine).some(machine.isProgram)) return [];
  const where = program.includes("/") ? "is no program here" : "is in no folder of PATH";
  return [`Container ${name} runs ${program}, which ${where}; install it or name another command.`];
}

function placesOf(program: string, container: ContainerPlan, machine: MachinePorts): readonly string[] {
  const directory = container.directory ?? machine.directory;
  if (program.includes("/")) return [isAbsolute(program) ? program : join(directory, program)];
  const own = container.variables.find((variable) => variable.name === "PATH")?.value;
  return (own ?? machine.searchPath).split(":").map((folder) => join(folder, program));
}
