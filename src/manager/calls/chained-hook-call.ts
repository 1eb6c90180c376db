/** Performs a container's own preStop hook as the kubelet would have done, as far as that works from inside the Pod. */
import { BROKEN_OFF, exchangeOverTcp } from "../http/http-client.ts";
import type { ChainedHook } from "./original-hooks.ts";

/** The app's budget runs; a hook that takes longer goes on without us. */
const HTTP_LIMIT_MS = 5_000;
const MS_PER_SECOND = 1_000;

/** Calls `done` exactly once, with an empty text or a sentence about what went wrong. */
export function performChainedHook(hook: ChainedHook, done: (failure: string) => void): void {
  if (hook.kind === "sleep") {
    setTimeout(() => done(""), hook.seconds * MS_PER_SECOND);
    return;
  }
  const where = `GET port ${hook.port}`;
  const headers: Record<string, string> = { connection: "close" };
  for (const header of hook.headers) headers[header.name.toLowerCase()] = header.value;
  let answered = false;
  const target = { host: "127.0.0.1", port: hook.port, path: hook.path, selector: "" };
  const drop = exchangeOverTcp(target, "GET", headers, {
    // The kubelet reads neither the status nor the body.
    onStatus: () => {
      answered = true;
    },
    onBytes: () => "",
    onEnd: (failure) => {
      clearTimeout(timer);
      const isPerformed = failure === "" || (answered && failure === BROKEN_OFF);
      done(isPerformed ? "" : `${where}: ${failure}`);
    },
  });
  const timer = setTimeout(() => {
    drop();
    done(`${where}: no whole answer within 5s`);
  }, HTTP_LIMIT_MS);
}
