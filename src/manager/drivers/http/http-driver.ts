/** Tells an app over HTTP that it drains, and asks how many requests it still works on. */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import { type HttpTarget, parseHttpTarget } from "../../http-target.ts";
import type { Driver } from "../../ports.ts";
import { callHttp } from "../http-call.ts";
import { parseActiveCount } from "./active-count.ts";

/** For all attempts to tell the app together. */
const TELL_LIMIT_MS = 2_000;
const TELL_PAUSE_MS = 250;
const COUNT_LIMIT_MS = 1_000;

export function createHttpDriver(settings: DrainSettings): Driver {
  const drain = parseHttpTarget(settings.drainUrl);
  const active = parseHttpTarget(settings.activeUrl);
  let dials = 0;

  /** Again only where no answer came or the app asks for it: an answer of any other kind is final. */
  const tell = (target: HttpTarget, leftMs: number, done: (failure: string) => void): void => {
    dials = dials + 1;
    const startedMs = performance.now();
    callHttp({ target, method: "POST", limitMs: leftMs }, (answer) => {
      if (answer.status >= 200 && answer.status < 300) {
        done("");
        return;
      }
      const restMs = Math.floor(leftMs - (performance.now() - startedMs) - TELL_PAUSE_MS);
      const again = answer.status === 0 || answer.status >= 500;
      if (again && restMs > 0) setTimeout(() => tell(target, restMs, done), TELL_PAUSE_MS);
      else done(`the app was not told to drain: ${answer.status === 0 ? answer.failure : `status ${answer.status}`}`);
    });
  };

  return {
    name: "http",
    dials: () => dials,
    counts: () => true,
    // An app that was told to drain has no word for the opposite.
    tellStaying: (done) => done(""),
    tellDraining: (done) => {
      if (settings.drainUrl === "") done("");
      else if (drain === undefined)
        done(`the app was not told to drain: ${settings.drainUrl} is no http URL with an IP`);
      else tell(drain, TELL_LIMIT_MS, done);
    },
    countActive: (done) => {
      if (active === undefined) {
        done(-1, false);
        return;
      }
      dials = dials + 1;
      callHttp({ target: active, method: "GET", limitMs: COUNT_LIMIT_MS }, (answer) => {
        done(answer.status === 200 ? parseActiveCount(answer.body, active.selector) : -1, false);
      });
    },
  };
}
