/** Everything the manager gets from its main: the two builds differ in nothing else. */
import {
  ORIGINAL_VARIABLE,
  POD_NAME_VARIABLE,
  POD_NAMESPACE_VARIABLE,
  TOKEN_VARIABLE,
} from "../contract/manager-environment.ts";
import type { Log } from "./log-line.ts";
import type { Libc, NowMs, ReadText } from "./ports.ts";

/** Variables, read once by the main; empty when not set. */
export type Environment = {
  readonly token: string;
  readonly original: string;
  readonly podName: string;
  readonly podNamespace: string;
};

export function environmentOf(variable: (name: string) => string | undefined): Environment {
  return {
    token: variable(TOKEN_VARIABLE) ?? "",
    original: variable(ORIGINAL_VARIABLE) ?? "",
    podName: variable(POD_NAME_VARIABLE) ?? "",
    podNamespace: variable(POD_NAMESPACE_VARIABLE) ?? "",
  };
}

export type Outside = {
  readonly environment: Environment;
  readonly libc: Libc;
  readonly readText: ReadText;
  readonly nowMs: NowMs;
  /** One line to standard output. */
  readonly log: Log;
  /** One line to standard error, for a person at a terminal. */
  readonly complain: Log;
  readonly exit: (code: number) => void;
};
