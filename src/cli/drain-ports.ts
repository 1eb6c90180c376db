/** Function types through which `drains`, `timeline` and `verify` reach the cluster, clock and terminal. */
import type { SendRequest } from "../api-server/api-request.ts";
import type { PodClient } from "../api-server/pod-client.ts";

export type ClusterChoice = {
  /** `--kubeconfig`; `undefined`: kubectl's search order. */
  readonly kubeconfig: string | undefined;
  /** `--context`; `undefined`: the current context. */
  readonly context: string | undefined;
};

export type ClusterConnection =
  | {
      readonly ok: true;
      readonly server: string;
      readonly request: SendRequest;
      readonly podClient: PodClient;
      readonly close: () => void;
    }
  | { readonly ok: false; readonly message: string };

export type DrainPorts = {
  readonly connect: (choice: ClusterChoice) => Promise<ClusterConnection>;
  /** Wall clock, milliseconds. */
  readonly nowMs: () => number;
  /** Resolves early, without rejecting, when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Aborts on SIGINT, SIGTERM, or when the reader of standard output has exited. */
  readonly interruptSignal: () => AbortSignal;
  /** Terminal width; a default when standard output is not a terminal. */
  readonly columns: () => number;
  /** @throws the error of the file system */
  readonly writeFile: (path: string, text: string) => void;
};
