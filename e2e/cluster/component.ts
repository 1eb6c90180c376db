/** Describes a program of the cluster, and starts it inside the namespaces. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SYSTEM_PATH } from "../host/requirements.ts";
import type { StateFolder } from "./state-folder.ts";

export type Component = {
  /** Also the name of the log file and of the start script. */
  readonly name: string;
  readonly node: "n1" | "n2";
  readonly program: string;
  readonly flags: readonly string[];
  /** Whether the program is restarted after its exit, as by systemd on a real node. */
  readonly isRestarted?: boolean;
};

/** `ip netns exec` cannot be used, because it mounts /sys again and hides the cgroups. */
const ENTER_N2 = ["nsenter", "--net=/run/netns/n2", "--uts=/run/uts-n2"];

/** Makes PID 1 of the cluster's PID namespace start a program, without the environment of this process. */
export function startComponent(component: Component, state: StateFolder): void {
  const enterCommand = component.node === "n2" ? ENTER_N2 : [];
  const environment = ["env", "-i", `PATH=${SYSTEM_PATH.join(":")}`, `HOME=${state.root}`];
  const command = [...environment, ...enterCommand, component.program, ...component.flags].map(shellQuote).join(" ");
  const logFile = shellQuote(join(state.logFolder, `${component.name}.log`));
  mkdirSync(state.logFolder, { recursive: true });
  const script = join(state.startFolder, `${component.name}.sh`);
  const commandLine = `${command} >>${logFile} 2>&1 </dev/null`;
  writeFileSync(
    script,
    component.isRestarted ? `while :; do ${commandLine}; sleep 1; done\n` : `exec ${commandLine}\n`,
  );
  // Writes of at most PIPE_BUF (4096) bytes to a pipe are atomic.
  writeFileSync(join(state.startFolder, "queue"), `${script}\n`, { flag: "r+" });
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
