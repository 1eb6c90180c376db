/** Runs one container: its main process, and the processes exec'd into it. */
import {
  MANAGER_BINARY,
  MANAGER_CONTAINER,
  PRELOAD_LIBRARY,
  PRELOAD_VARIABLE,
} from "../../contract/manager-environment.ts";
import type { PodAttachment } from "../network/pod-network.ts";
import type { ContainerPlan, PodPlan } from "./pod-plan.ts";
import type { LocalProcess, ProcessTable } from "./process-table.ts";

export type ContainerImages = {
  /** Command line for `/lastcall` of the manager's image. */
  readonly managerProgram: readonly string[];
  /** Path of the library of the manager's image; empty where there is none. */
  readonly preloadLibrary: string;
  /** Variables that an image would set, such as PATH. */
  readonly imageEnvironment: Readonly<Record<string, string>>;
};

export type CommandSurroundings = ContainerImages & Pick<PodAttachment, "address" | "managerArguments">;

export type ContainerPorts = ContainerImages & {
  readonly processes: ProcessTable;
  readonly attachment: PodAttachment;
  readonly onLine: (line: string) => void;
  /** The main process exited; called before `exited` resolves. */
  readonly onExit: (status: number) => void;
};

export type ContainerRun = {
  readonly plan: ContainerPlan;
  readonly start: () => void;
  readonly isRunning: () => boolean;
  /** SIGTERM becomes the stop signal of the container. */
  readonly signal: (signal: "SIGTERM" | "SIGKILL") => void;
  /** Exit status of the current main process; resolved when there is none. */
  readonly exited: () => Promise<number>;
  /** Ends with the main process of the container. */
  readonly exec: (command: readonly string[]) => Promise<number>;
};

export function createContainerRun(plan: ContainerPlan, pod: PodPlan, ports: ContainerPorts): ContainerRun {
  const surroundings = { ...ports, ...ports.attachment };
  const environment = containerEnvironment(plan, pod, surroundings);
  const execs = new Set<LocalProcess>();
  let main: LocalProcess | undefined;
  let exited: Promise<number> = Promise.resolve(0);
  const startProcess = (argv: readonly string[]) =>
    ports.processes.start({
      argv: ports.attachment.inside(argv),
      environment,
      directory: plan.directory,
      onLine: ports.onLine,
    });
  return {
    plan,
    start: () => {
      main = startProcess(mainCommand(plan, environment, surroundings));
      exited = main.exited.then((status) => {
        for (const each of execs) each.signal("SIGKILL");
        ports.onExit(status);
        return status;
      });
    },
    isRunning: () => main?.isRunning() ?? false,
    signal: (signal) => main?.signal(signal === "SIGTERM" ? plan.stopSignal : signal),
    exited: () => exited,
    exec: async (command) => {
      if (main === undefined || !main.isRunning()) return 137;
      const started = startProcess(execCommand(command, surroundings));
      execs.add(started);
      return started.exited.finally(() => execs.delete(started));
    },
  };
}

/** The manager's container runs its image's entry point; every other one runs the command it names. */
export function mainCommand(
  container: ContainerPlan,
  environment: Readonly<Record<string, string>>,
  surroundings: CommandSurroundings,
): string[] {
  const command = container.command.map((word) => expand(word, environment));
  const args = container.args.map((word) => expand(word, environment));
  if (container.name !== MANAGER_CONTAINER) return [...command, ...args];
  return [...surroundings.managerProgram, ...surroundings.managerArguments(args)];
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
        : fieldValue(variable.fieldPath, pod, surroundings.address);
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
  return path === "status.podIP" || path === "status.podIPs" ? address : "";
}

/** `$(NAME)` becomes the variable's value, `$$` one dollar sign; an unknown name stays as written. */
export function expand(text: string, environment: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)/g, (found: string, name: string | undefined) =>
    name === undefined ? "$" : (environment[name] ?? found),
  );
}
