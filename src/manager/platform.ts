/** Defines the functions that the manager needs from its entry point. The native and the Node build differ only in these. */
import { VARIABLES } from "../contract/manager-environment.ts";
import type { Log } from "./log-line.ts";
import type { FlagPage, Libc, NowMs, PortGuard, ReadText, ScanText } from "./ports.ts";

export type Environment = {
  readonly token: string;
  readonly originalHooks: string;
  readonly podName: string;
  readonly podNamespace: string;
  readonly podUid: string;
  readonly podIps: string;
  readonly relayAddress: string;
  readonly relayName: string;
  readonly relayCa: string;
  readonly relayCredential: string;
};

export function environmentOf(variable: (name: string) => string | undefined): Environment {
  return {
    token: variable(VARIABLES.token) ?? "",
    originalHooks: variable(VARIABLES.original) ?? "",
    podName: variable(VARIABLES.podName) ?? "",
    podNamespace: variable(VARIABLES.podNamespace) ?? "",
    podUid: variable(VARIABLES.podUid) ?? "",
    podIps: variable(VARIABLES.podIps) ?? "",
    relayAddress: variable(VARIABLES.relayAddress) ?? "",
    relayName: variable(VARIABLES.relayName) ?? "",
    relayCa: variable(VARIABLES.relayCa) ?? "",
    relayCredential: variable(VARIABLES.relayCredential) ?? "",
  };
}

export type Platform = {
  readonly environment: Environment;
  readonly ownCommand: readonly string[];
  readonly libc: Libc;
  readonly portGuard: PortGuard;
  readonly flagPage: FlagPage;
  readonly onStarted: () => void;
  readonly readText: ReadText;
  readonly scanText: ScanText;
  readonly nowMs: NowMs;
  readonly readInput: (onChunk: (chunk: Buffer) => void, onEnd: () => void) => void;
  readonly log: Log;
  readonly printError: Log;
  readonly exit: (code: number) => void;
};
