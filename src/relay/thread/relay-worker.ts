/** Starts the program in a worker thread, as `relay-thread`, and defines the messages in both directions. */
import { Worker } from "node:worker_threads";
import type { EventSpec } from "../../api-server/event-object.ts";
import type { IssuerIdentity } from "../identity/identity.ts";
import type { AdminListen } from "../page/admin-server.ts";

export type WorkerSettings = {
  readonly kubeconfigFile: string;
  readonly namespace: string;
  readonly secretName: string;
  readonly host: string;
  readonly port: number;
  readonly readsPods: boolean;
  readonly adminPort: number;
  readonly adminListen: AdminListen;
  readonly instance: string;
  readonly reconcileMs: number;
};

/**
 * The worker responds to `end-streams` with `streams-ended`, and to `metrics` with `metrics`. The worker does not stop after any
 * of these requests.
 */
export type WorkerRequest = { readonly kind: "end-streams" | "metrics" };

export type LogLine = {
  readonly kind: "line";
  readonly level: "info" | "warn" | "error";
  readonly keys: object;
  readonly sentence: string;
};

/** Messages are structured-cloned: they contain plain data, and the signing keys as KeyObjects. */
export type WorkerMessage =
  | { readonly kind: "identity"; readonly identity: IssuerIdentity }
  | { readonly kind: "ready" }
  | { readonly kind: "event"; readonly event: EventSpec }
  | LogLine
  | { readonly kind: "metrics"; readonly text: string }
  | { readonly kind: "streams-ended" };

export type RelayWorker = {
  readonly send: (request: WorkerRequest) => void;
  readonly terminate: () => Promise<void>;
};

export type WorkerCallbacks = {
  readonly onMessage: (message: WorkerMessage) => void;
  readonly onExit: (why: unknown) => void;
};

/** Limit of the thread's JavaScript heap. Node ends a thread above the limit, before the kernel kills the whole process. */
export const HEAP_LIMIT_MIB = 640;

/** Share of the container's memory; the rest is for admissions and for TLS, which allocates outside of the JavaScript heap. */
const HEAP_SHARE = 5 / 12;
const MIB = 1_048_576;

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
  worker.once("exit", (status) => callbacks.onExit(why ?? new Error(`the relay's thread ended with status ${status}`)));
  return {
    send: (request) => worker.postMessage(request),
    terminate: async () => {
      await worker.terminate();
    },
  };
}
