/** What `drains` and `timeline` need from outside besides files and streams. */
import type { SendRequest } from "../api-server/api-request.ts";
import type { PodClient } from "../api-server/pod-client.ts";

export type ClusterChoice = {
  /** `--kubeconfig`; without it the places are searched that kubectl searches. */
  readonly kubeconfig: string | undefined;
  /** `--context`; without it the kubeconfig's current one. */
  readonly context: string | undefined;
};

export type Connected =
  | {
      readonly ok: true;
      readonly server: string;
      readonly request: SendRequest;
      readonly askPod: PodClient;
      readonly close: () => void;
    }
  | { readonly ok: false; readonly message: string };

export type DrainPorts = {
  /** Sends nothing yet. */
  readonly connect: (choice: ClusterChoice) => Promise<Connected>;
  /** Wall clock, milliseconds. */
  readonly nowMs: () => number;
  /** Ends early, and without rejecting, when the signal is given. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Given when the person has seen enough: an interrupt, or standard output has no reader any more. */
  readonly untilLeft: () => AbortSignal;
  /** Columns of the terminal, or what suits a file. */
  readonly columns: () => number;
  /** Throws what the system throws. */
  readonly writeFile: (path: string, text: string) => void;
};
