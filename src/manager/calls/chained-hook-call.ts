/** Runs a container's own preStop hook as the kubelet would, as far as that is possible from inside the Pod. */
import { exchangeOverTcp, INCOMPLETE } from "../http/http-client.ts";
import type { ChainedHook } from "./original-hooks.ts";

/** Maximum time for an HTTP hook. It is short, because the app's own grace period is passing while the hook runs. */
const HTTP_TIMEOUT_MS = 5_000;
const MS_PER_SECOND = 1_000;

export function runChainedHook(hook: ChainedHook, done: (failure: string) => void): void {
  if (hook.kind === "sleep") {
    setTimeout(() => done(""), hook.seconds * MS_PER_SECOND);
    return;
  }
  const requestText = `GET port ${hook.port}`;
  const headers: Record<string, string> = { connection: "close" };
  for (const header of hook.headers) headers[header.name.toLowerCase()] = header.value;
  let hasStatus = false;
  const target = { host: "127.0.0.1", port: hook.port, path: hook.path, selector: "" };
  const drop = exchangeOverTcp(target, "GET", headers, {
    // Like the kubelet, the manager ignores the status and the body.
    onStatus: () => {
      hasStatus = true;
    },
    onBytes: () => "",
    onEnd: (failure) => {
      clearTimeout(timer);
      const isPerformed = failure === "" || (hasStatus && failure === INCOMPLETE);
      done(isPerformed ? "" : `${requestText}: ${failure}`);
    },
  });
  const timer = setTimeout(() => {
    drop();
    done(`${requestText}: no complete response within 5s`);
  }, HTTP_TIMEOUT_MS);
}
