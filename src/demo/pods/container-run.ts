/** One container: its process, the processes exec'd into it, and its restarts. */
import type { Clock } from "../clock.ts";
import type { PodAttachment } from "../network/pod-network.ts";
import { type CommandSurroundings, containerEnvironment, execCommand, mainCommand } from "./container-command.ts";
import type { ContainerPlan, PodPlan } from "./pod-plan.ts";
import type { LocalProcess, ProcessTable } from "./process-table.ts";

type ContainerPorts = {
  readonly clock: Clock;
  readonly processes: ProcessTable;
  readonly attachment: PodAttachment;
  readonly surroundings: CommandSurroundings;
  readonly onLine: (container: string, line: string) => void;
  /** The main process ended, for whatever reason; called before `exited` resolves. */
  readonly onExit: (container: string, status: number) => void;
};

export type ContainerRun = {
  readonly plan: ContainerPlan;
  readonly start: () => void;
  readonly isRunning: () => boolean;
  /** SIGTERM stands for the stop signal of the container. */
  readonly signal: (signal: "SIGTERM" | "SIGKILL") => void;
  /** Of the process that runs now; resolved when there is none. */
  readonly exited: () => Promise<number>;
  /** Ends with the container's main process, as everything in a container does. */
  readonly exec: (command: readonly string[]) => Promise<number>;
};

export function createContainerRun(plan: ContainerPlan, pod: PodPlan, ports: ContainerPorts): ContainerRun {
  const environment = containerEnvironment(plan, pod, ports.surroundings);
  const guests = new Set<LocalProcess>();
  let main: LocalProcess | undefined;
  let exited: Promise<number> = Promise.resolve(0);
  const startProcess = (argv: readonly string[]) =>
    ports.processes.start({
      argv: ports.attachment.inside(argv),
      environment,
      ...(plan.directory === undefined ? {} : { directory: plan.directory }),
      onLine: (line) => ports.onLine(plan.name, line),
    });
  return {
    plan,
    start: () => {
      main = startProcess(mainCommand(plan, environment, ports.surroundings));
      exited = main.exited.then((status) => {
        for (const guest of guests) guest.signal("SIGKILL");
        ports.onExit(plan.name, status);
        return status;
      });
    },
    isRunning: () => main?.isRunning() ?? false,
    signal: (signal) => main?.signal(signal === "SIGTERM" ? plan.stopSignal : signal),
    exited: () => exited,
    exec: async (command) => {
      if (main === undefined || !main.isRunning()) return 137;
      const guest = startProcess(execCommand(command, ports.surroundings));
      guests.add(guest);
      const status = await guest.exited;
      guests.delete(guest);
      return status;
    },
  };
}
