/** Starts the relay client: this very program once more, with nothing but what it needs. */
import { spawn } from "node:child_process";
import {
  POD_IPS_VARIABLE,
  POD_NAME_VARIABLE,
  POD_NAMESPACE_VARIABLE,
  POD_UID_VARIABLE,
  RELAY_ADDRESS_VARIABLE,
  RELAY_CA_VARIABLE,
  RELAY_CREDENTIAL_VARIABLE,
  RELAY_NAME_VARIABLE,
} from "../../contract/manager-environment.ts";
import type { Environment } from "../outside.ts";
import type { ClientEars, ClientProcess, StartClient } from "./client-handle.ts";

type Program = {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
};

/** @param self the program's file, and what stands before its own words */
export function clientStarter(self: readonly string[], environment: Environment): StartClient {
  const env: Record<string, string> = {};
  env[RELAY_ADDRESS_VARIABLE] = environment.relayAddress;
  env[RELAY_NAME_VARIABLE] = environment.relayName;
  env[RELAY_CA_VARIABLE] = environment.relayCa;
  env[RELAY_CREDENTIAL_VARIABLE] = environment.relayCredential;
  env[POD_NAMESPACE_VARIABLE] = environment.podNamespace;
  env[POD_NAME_VARIABLE] = environment.podName;
  env[POD_UID_VARIABLE] = environment.podUid;
  env[POD_IPS_VARIABLE] = environment.podIps;
  const program: Program = { file: self[0] ?? "", args: [...self.slice(1), "relay"], env };
  return (ears) => {
    try {
      return start(program, ears);
    } catch (error) {
      const how = error instanceof Error ? error.message : "it could not be started";
      // Not before the caller knows what it has started.
      setTimeout(() => ears.onEnd(how), 0);
      return { write: () => {}, kill: () => {} };
    }
  };
}

function start(program: Program, ears: ClientEars): ClientProcess {
  let open = true;
  const finish = (how: string): void => {
    if (!open) return;
    open = false;
    ears.onEnd(how);
  };
  const child = spawn(program.file, [...program.args], { env: program.env, stdio: ["pipe", "pipe", "ignore"] });
  child.on("error", (error) => finish(error.message));
  child.on("close", (code: number | null) => finish(code === null ? "killed" : `status ${code}`));
  child.stdout.on("data", (chunk: Buffer) => ears.onOutput(chunk));
  // Without a listener a client that has gone would end the manager.
  child.stdin.on("error", () => {});
  return {
    write: (line) => {
      if (open) child.stdin.write(line);
    },
    kill: () => {
      child.kill("SIGKILL");
    },
  };
}
