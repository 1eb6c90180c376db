/** Drains the webhook's HTTPS server after a stop signal. */
import { EXIT_FORCED } from "../contract/exit-codes.ts";
import type { CloseListeners } from "./intake/more-listeners.ts";
import type { Log } from "./log.ts";
import type { WebhookServer } from "./server.ts";

type ShutdownOptions = {
  readonly drainDelayMs: number;
  readonly log: Log;
  readonly sleep: (ms: number) => Promise<void>;
  readonly closeListeners?: CloseListeners;
  readonly onClosing?: () => void;
};

/** Limit for open requests after the drain delay; the API server times out after at most 30 s. */
const FINISH_LIMIT_MS = 30_000;

/**
 * Keeps serving for the drain delay, because API servers get the endpoint change late. Responses during the delay contain
 * `Connection: close`, so that clients stop using their connections before idle connections are closed. `isStopping` of the
 * server's ports has to return true before the call.
 */
export async function shutDown(app: WebhookServer, options: ShutdownOptions): Promise<void> {
  options.log.info({ drainDelayMs: options.drainDelayMs }, "received a stop signal, still serving");
  await options.sleep(options.drainDelayMs);
  options.log.info("no longer listening");
  const closed = Promise.all([app.close(), options.closeListeners?.()]).then(() => "closed" as const);
  options.onClosing?.();
  const limitReached = options.sleep(FINISH_LIMIT_MS).then(() => "late" as const);
  if ((await Promise.race([closed, limitReached])) === "late") {
    options.log.warn(
      { limitMs: FINISH_LIMIT_MS },
      "closing the connections of requests that are still open after the time limit",
    );
    app.server.closeAllConnections();
    await closed;
  }
  options.log.info("stopped");
}

type StopSignal = { readonly signal: Promise<NodeJS.Signals>; readonly isReceived: () => boolean };

export function listenForStopSignal(log: Log, flush: () => void): StopSignal {
  let isReceived = false;
  const signal = new Promise<NodeJS.Signals>((resolve) => {
    const onSignal = (name: NodeJS.Signals): void => {
      if (isReceived) {
        log.warn({ signal: name }, "second stop signal, exiting now");
        flush();
        process.exit(EXIT_FORCED);
      }
      isReceived = true;
      resolve(name);
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
  return { signal, isReceived: () => isReceived };
}
