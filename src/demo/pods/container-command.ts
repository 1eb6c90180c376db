/** From a container's plan to the words and variables a process is started with. Pure. */
import {
  MANAGER_BINARY,
  MANAGER_CONTAINER,
  PRELOAD_LIBRARY,
  PRELOAD_VARIABLE,
} from "../../contract/manager-environment.ts";
import type { ContainerPlan, PodPlan } from "./pod-plan.ts";

export type CommandSurroundings = {
  readonly podAddress: string;
  /** What `/lastcall` in the manager's image is here, as the beginning of a command line. */
  readonly managerProgram: readonly string[];
  readonly managerArguments: (args: readonly string[]) => readonly string[];
  /** Where the library of the manager's image is here; empty where there is none. */
  readonly preloadLibrary: string;
  /** What every container inherits: PATH and the like, as an image would set them. */
  readonly imageEnvironment: Readonly<Record<string, string>>;
};

/** The manager's container runs its image's entry point; every other one runs the command it names. */
export function mainCommand(
  container: ContainerPlan,
  environment: Readonly<Record<string, string>>,
  surroundings: CommandSurroundings,
): string[] {
  const args = expandAll(container.args, environment);
  if (container.name === MANAGER_CONTAINER)
    return [...surroundings.managerProgram, ...surroundings.managerArguments(args)];
  return [...expandAll(container.command, environment), ...args];
}

/** The command of an exec hook or probe; Kubernetes expands no variables there. */
export function execCommand(command: readonly string[], surroundings: CommandSurroundings): string[] {
  if (command[0] !== MANAGER_BINARY) return [...command];
  return [...surroundings.managerProgram, ...surroundings.managerArguments(command.slice(1))];
}

export function containerEnvironment(
  container: ContainerPlan,
  pod: PodPlan,
  surroundings: CommandSurroundings,
): Record<string, string> {
  const environment: Record<string, string> = { ...surroundings.imageEnvironment, HOSTNAME: pod.name };
  for (const variable of container.variables) {
    environment[variable.name] =
      variable.fieldPath === ""
        ? expand(variable.value, environment)
        : fieldValue(variable.fieldPath, pod, surroundings.podAddress);
  }
  const preloaded = environment[PRELOAD_VARIABLE];
  if (preloaded !== undefined)
    environment[PRELOAD_VARIABLE] = preloaded.replaceAll(PRELOAD_LIBRARY, surroundings.preloadLibrary);
  return environment;
}

function fieldValue(path: string, pod: PodPlan, address: string): string {
  if (path === "metadata.name") return pod.name;
  if (path === "metadata.namespace") return pod.namespace;
  if (path === "metadata.uid") return pod.uid;
  if (path === "status.podIP" || path === "status.podIPs") return address;
  return "";
}

function expandAll(words: readonly string[], environment: Readonly<Record<string, string>>): string[] {
  return words.map((word) => expand(word, environment));
}

/** `$(NAME)` becomes the variable's value, `$$` one dollar sign; an unknown name stays as written. */
export function expand(text: string, environment: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)/g, (found: string, name: string | undefined) =>
    name === undefined ? "$" : (environment[name] ?? found),
  );
}
