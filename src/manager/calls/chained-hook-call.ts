/** Performs a container's own preStop hook as the kubelet would have done, as far as that works from inside the Pod. */
import { request } from "node:http";
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
  let settled = false;
  const settle = (failure: string): void => {
    if (settled) return;
    settled = true;
    clearTimeout(timer);
    done(failure);
  };
  const where = `GET port ${hook.port}`;
  const headers: Record<string, string> = { connection: "close" };
  for (const header of hook.headers) headers[header.name.toLowerCase()] = header.value;
  const call = request(
    { host: "127.0.0.1", port: hook.port, path: hook.path, method: "GET", headers: headers },
    (res) => {
      res.on("data", () => {});
      // The status is not looked at, as the kubelet does not look at it either.
      res.on("end", () => settle(""));
      res.on("error", (error) => settle(`${where}: ${error.message}`));
      res.on("close", () => settle(""));
    },
  );
  const timer = setTimeout(() => {
    call.destroy();
    settle(`${where}: no whole answer within 5s`);
  }, HTTP_LIMIT_MS);
  call.on("error", (error) => settle(`${where}: ${error.message}`));
  call.end();
}
