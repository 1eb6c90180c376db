/** POSTs to Envoy's admin interface, one after the other, each again until it is heard or refused. */
import type { HttpStream } from "../../http/http-client.ts";
import { adminCall, type HttpTarget } from "../../http/http-target.ts";

export type Told = {
  readonly path: string;
  /** Empty when Envoy did it. */
  readonly failure: string;
  /** Envoy refused; asking again changes nothing. */
  readonly refused: boolean;
};

type Telling = {
  readonly admin: HttpTarget;
  readonly paths: readonly string[];
  /** For all calls and repetitions together. */
  readonly limitMs: number;
  readonly stream: HttpStream;
};

const CALL_LIMIT_MS = 2_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2_000;

/** @param done called exactly once, with an entry for every path that was tried */
export function tellEnvoy(telling: Telling, done: (told: readonly Told[]) => void): void {
  const told: Told[] = [];
  const startedMs = performance.now();
  const leftMs = (): number => Math.floor(telling.limitMs - (performance.now() - startedMs));

  const next = (index: number): void => {
    const path = telling.paths[index];
    if (path === undefined) done(told);
    else attempt(path, index, FIRST_PAUSE_MS);
  };

  const attempt = (path: string, index: number, pauseMs: number): void => {
    const limitMs = Math.max(1, Math.min(CALL_LIMIT_MS, leftMs()));
    telling.stream({ target: adminCall(telling.admin, path), method: "POST", limitMs }, ignored, (end) => {
      const heard = end.status >= 200 && end.status < 300;
      const again = !heard && (end.status === 0 || end.status >= 500) && leftMs() > pauseMs;
      if (again) {
        setTimeout(() => attempt(path, index, Math.min(LONGEST_PAUSE_MS, pauseMs * 2)), pauseMs);
        return;
      }
      const why = end.status === 0 ? end.failure : `status ${end.status}`;
      told.push({ path, failure: heard ? "" : `POST ${path}: ${why}`, refused: end.status >= 400 && end.status < 500 });
      next(index + 1);
    });
  };

  next(0);
}

function ignored(): string {
  return "";
}
