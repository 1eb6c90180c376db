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
  readonly managerProgram: readonly string[];
  /** Path of the local preload library, which replaces that of the manager's image; empty if the library was not built. */
  readonly preloadLibrary: string;
  readonly imageEnvironment: Readonly<Record<string, string>>;
};

export type CommandContext = ContainerImages & Pick<PodAttachment, "address" | "managerArguments">;

export type ContainerPorts = ContainerImages & {
  readonly processes: ProcessTable;
  readonly attachment: PodAttachment;
  readonly onLine: (line: string) => void;
  readonly onExit: (status: number) => void;
};

export type ContainerRun = {
  readonly plan: ContainerPlan;
  readonly start: () => void;
  readonly isRunning: () => boolean;
  /** SIGTERM is replaced by the container's stop signal. */
  readonly signal: (signal: "SIGTERM" | "SIGKILL") => void;
  /** Exit status of the main process; 0 before its first start. */
  readonly exited: () => Promise<number>;
  /** The command is killed when the container's main process exits. */
  readonly exec: (command: readonly string[]) => Promise<number>;
};

export function createContainerRun(plan: ContainerPlan, pod: PodPlan, ports: ContainerPorts): ContainerRun {
  const context = { ...ports, ...ports.attachment };
  const environment = containerEnvironment(plan, pod, context);
  const execRuns = new Set<LocalProcess>();
  let mainProcess: LocalProcess | undefined;
  let exited: Promise<number> = Promise.resolve(0);
  const startProcess = (argv: readonly string[]) =>
    ports.processes.start({
      argv: ports.attachment.commandInside(argv),
      environment,
      directory: plan.directory,
      onLine: ports.onLine,
    });
  return {
    plan,
    start: () => {
      mainProcess = startProcess(mainCommand(plan, environment, context));
      exited = mainProcess.exited.then((status) => {
        for (const execRun of execRuns) execRun.signal("SIGKILL");
        ports.onExit(status);
        return status;
      });
    },
    isRunning: () => mainProcess?.isRunning() ?? false,
    signal: (signal) => mainProcess?.signal(signal === "SIGTERM" ? plan.stopSignal : signal),
    exited: () => exited,
    exec: async (command) => {
      if (mainProcess === undefined || !mainProcess.isRunning()) return 137;
      const execRun = startProcess(execCommand(command, context));
      execRuns.add(execRun);
      return execRun.exited.finally(() => execRuns.delete(execRun));
    },
  };
}

export function mainCommand(
  container: ContainerPlan,
  environment: Readonly<Record<string, string>>,
  context: CommandContext,
): string[] {
  const command = container.command.map((argument) => expandVariables(argument, environment));
  const args = container.args.map((argument) => expandVariables(argument, environment));
  if (container.name !== MANAGER_CONTAINER) return [...command, ...args];
  return [...context.managerProgram, ...context.managerArguments(args)];
}

/** Kubernetes does not expand variables in the command of exec hooks and probes. */
export function execCommand(command: readonly string[], context: CommandContext): string[] {
  if (command[0] !== MANAGER_BINARY) return [...command];
  return [...context.managerProgram, ...context.managerArguments(command.slice(1))];
}

export function containerEnvironment(
  container: ContainerPlan,
  pod: PodPlan,
  context: CommandContext,
): Record<string, string> {
  const environment: Record<string, string> = { ...context.imageEnvironment, HOSTNAME: pod.name };
  for (const variable of container.variables) {
    environment[variable.name] =
      variable.fieldPath === ""
        ? expandVariables(variable.value, environment)
        : fieldValue(variable.fieldPath, pod, context.address);
  }
  const preloadValue = environment[PRELOAD_VARIABLE];
  if (preloadValue !== undefined)
    environment[PRELOAD_VARIABLE] = preloadValue.replaceAll(PRELOAD_LIBRARY, context.preloadLibrary);
  return environment;
}

function fieldValue(path: string, pod: PodPlan, address: string): string {
  if (path === "metadata.name") return pod.name;
  if (path === "metadata.namespace") return pod.namespace;
  if (path === "metadata.uid") return pod.uid;
  return path === "status.podIP" || path === "status.podIPs" ? address : "";
}

/** Replaces `$(NAME)` by the variable's value and `$$` by one dollar sign; unknown names stay unchanged. */
export function expandVariables(text: string, environment: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)/g, (match: string, name: string | undefined) =>
    name === undefined ? "$" : (environment[name] ?? match),
  );
}
