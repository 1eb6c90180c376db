/** The signals that tell the program to leave. */
import { EXIT_FORCED } from "../contract/exit-codes.ts";
import type { Log } from "./request-log.ts";

export type Stop = { readonly signal: Promise<NodeJS.Signals>; readonly told: () => boolean };

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
