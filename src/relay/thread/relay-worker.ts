/** Starts the same program in a worker thread, as `relay-thread`, and types the messages in both directions. */
import { Worker } from "node:worker_threads";
import type { EventSpec } from "../../api-server/event-object.ts";
import type { AccessIdentity } from "../identity/identity.ts";
import type { AdminListen } from "../page/admin-server.ts";

export type WorkerSettings = {
  /** Empty: the account of the Pod this process runs in. */
  readonly kubeconfigFile: string;
  readonly namespace: string;
  readonly secretName: string;
  /** Empty: every address. */
  readonly host: string;
  /** 0: the system chooses. */
  readonly port: number;
  readonly readsPods: boolean;
  /** 0: recent drains are not shown. */
  readonly adminPort: number;
  readonly adminListen: AdminListen;
  readonly instance: string;
  /** Between two reads of the Secret. */
  readonly lookMs: number;
};

/** `leave` ends the streams and is answered by `left`, `figures` by `figures`. There is no `stop`: a worker is terminated. */
export type WorkerRequest = { readonly kind: "leave" | "figures" };

export type LogLine = {
  readonly kind: "line";
  readonly level: "info" | "warn" | "error";
  readonly keys: object;
  readonly sentence: string;
};

/** Plain data that structured cloning takes, and the signing keys as handles. */
export type WorkerMessage =
  /** Replaces the previous identity, also by an empty one. */
  | { readonly kind: "identity"; readonly identity: AccessIdentity }
  /** The relay listens, and has read the Secret or waits for it no longer. */
  | { readonly kind: "ready" }
  | { readonly kind: "note"; readonly note: EventSpec }
  | LogLine
  /** Metrics in the text format of Prometheus. */
  | { readonly kind: "figures"; readonly text: string }
  | { readonly kind: "left" };

export type RelayWorker = {
  readonly send: (request: WorkerRequest) => void;
  /** Resolves when the thread is gone, whatever it was doing. */
  readonly terminate: () => Promise<void>;
};

export type WorkerCallbacks = {
  readonly onMessage: (message: WorkerMessage) => void;
  /** Once, also after `terminate`. */
  readonly onExit: (why: unknown) => void;
};

/** In MiB, of the thread's JavaScript heap. A thread that needs more is restarted before the kernel kills the process. */
export const HEAP_LIMIT_MIB = 640;

/** Of the container's memory; the rest is for admissions, and for TLS, which allocates outside of that heap. */
const HEAP_SHARE = 5 / 12;
const MIB = 1_048_576;

/** @param containerBytes 0 when there is no limit or it is unknown */
export function heapLimitMiB(containerBytes: number): number {
  if (containerBytes === 0) return HEAP_LIMIT_MIB;
  return Math.min(HEAP_LIMIT_MIB, Math.floor((containerBytes / MIB) * HEAP_SHARE));
}

const COMMAND = "relay-thread";

export function startWorker(
  program: string,
  { settings, heapMiB }: { readonly settings: WorkerSettings; readonly heapMiB: number },
  callbacks: WorkerCallbacks,
): RelayWorker {
  const worker = new Worker(program, {
    name: COMMAND,
    argv: [COMMAND],
    workerData: settings,
    resourceLimits: { maxOldGenerationSizeMb: heapMiB },
  });
  let why: unknown;
  worker.on("message", callbacks.onMessage);
  worker.on("error", (error) => {
    why = error;
  });
  worker.once("exit", (status) => callbacks.onExit(why ?? new Error(`the thread ended with status ${status}`)));
  return {
    send: (request) => worker.postMessage(request),
    terminate: async () => {
      await worker.terminate();
    },
  };
}
