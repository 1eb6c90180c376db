/** How the server leaves: it is drained as it drains others. */
import { EXIT_FORCED } from "../contract/exit-codes.ts";
import type { CloseListeners } from "./intake/more-listeners.ts";
import type { Log } from "./log.ts";
import type { WebhookServer } from "./server.ts";

type Leaving = {
  readonly drainDelayMs: number;
  readonly log: Log;
  readonly sleep: (ms: number) => Promise<void>;
  /** Closes the other listeners on the port; resolves when their connections have ended. */
  readonly closeListeners?: CloseListeners;
  /** Ends what would be open without end, once no new connection comes. */
  readonly onClosing?: () => void;
};

/** Longest time open requests get after the drain delay; the API server gives up on them after 30 s. */
const FINISH_LIMIT_MS = 30_000;

/**
 * Keeps serving and stays ready for the drain delay, because the API server learns late that this replica is gone.
 * Every answer meanwhile asks its client for a new connection, so that none is in use when the idle ones are closed;
 * the server's `leaving` port must say so before this is called.
 */
export async function leave(app: WebhookServer, how: Leaving): Promise<void> {
  how.log.info({ drainDelayMs: how.drainDelayMs }, "told to stop, still serving");
  await how.sleep(how.drainDelayMs);
  how.log.info("no longer listening");
  const closed = Promise.all([app.close(), how.closeListeners?.()]).then(() => "closed" as const);
  how.onClosing?.();
  const late = how.sleep(FINISH_LIMIT_MS).then(() => "late" as const);
  if ((await Promise.race([closed, late])) === "late") {
    how.log.warn({ limitMs: FINISH_LIMIT_MS }, "open requests were cut");
    app.server.closeAllConnections();
    await closed;
  }
  how.log.info("stopped");
}

/** The signals that tell the program to leave. */
type Stop = { readonly signal: Promise<NodeJS.Signals>; readonly told: () => boolean };

/** The second signal means: now. */
export function stopSignal(log: Log, flush: () => void): Stop {
  let told = false;
  const signal = new Promise<NodeJS.Signals>((resolve) => {
    const onSignal = (name: NodeJS.Signals): void => {
      if (told) {
        log.warn({ signal: name }, "told to stop twice, ending at once");
        flush();
        process.exit(EXIT_FORCED);
      }
      told = true;
      resolve(name);
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
  return { signal, told: () => told };
}
