/** Everything the manager gets from its main: the two builds differ in nothing else. */
import { VARIABLES } from "../contract/manager-environment.ts";
import type { Log } from "./log-line.ts";
import type { FlagPage, Libc, NowMs, PortGuard, ReadText, ScanText } from "./ports.ts";

/** Variables, read once by the main; empty when not set. */
export type Environment = {
  readonly token: string;
  readonly original: string;
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
    original: variable(VARIABLES.original) ?? "",
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

export type Outside = {
  readonly environment: Environment;
  /** The program's file, and what stands before its own words: how it starts itself once more. */
  readonly self: readonly string[];
  readonly libc: Libc;
  readonly portGuard: PortGuard;
  readonly flagPage: FlagPage;
  /** The start is over, and nothing is to be done until the Pod ends. */
  readonly onIdle: () => void;
  readonly readText: ReadText;
  readonly scanText: ScanText;
  readonly nowMs: NowMs;
  /** Standard input, from the first call on. */
  readonly readInput: (onChunk: (chunk: Buffer) => void, onEnd: () => void) => void;
  /** One line to standard output. */
  readonly log: Log;
  /** One line to standard error, for a person at a terminal. */
  readonly complain: Log;
  readonly exit: (code: number) => void;
};
