/** Notifies an app of the drain by HTTP, and reads its number of active requests. */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import { callHttp } from "../../http/http-client.ts";
import { type HttpTarget, parseHttpTarget } from "../../http/http-target.ts";
import { depthOf, isRecord } from "../../json-reader.ts";
import type { Driver } from "../../ports.ts";
import { sumOfSamples } from "../metric-samples.ts";

/** Limit for all attempts together. */
const NOTIFY_TIMEOUT_MS = 2_000;
const NOTIFY_PAUSE_MS = 250;
const COUNT_TIMEOUT_MS = 1_000;

export function createHttpDriver(settings: DrainSettings): Driver {
  const drainTarget = parseHttpTarget(settings.drainUrl);
  const activeTarget = parseHttpTarget(settings.activeUrl);
  let dialCount = 0;

  /** Retries if a response is missing or has a status of 5xx. Other responses are final. */
  const notify = (target: HttpTarget, leftMs: number, done: (failure: string) => void): void => {
    dialCount = dialCount + 1;
    const startedMs = performance.now();
    callHttp({ target, method: "POST", timeoutMs: leftMs }, (response) => {
      if (response.status >= 200 && response.status < 300) {
        done("");
        return;
      }
      const restMs = Math.floor(leftMs - (performance.now() - startedMs) - NOTIFY_PAUSE_MS);
      const shouldRetry = response.status === 0 || response.status >= 500;
      if (shouldRetry && restMs > 0) setTimeout(() => notify(target, restMs, done), NOTIFY_PAUSE_MS);
      else
        done(
          `the request to lastcall.dev/drain-url failed: ${response.status === 0 ? response.failure : `status ${response.status}`}`,
        );
    });
  };

  return {
    name: "http",
    dialCount: () => dialCount,
    canCount: () => true,
    cancelDrain: (done) => done(""),
    startDrain: (done) => {
      if (settings.drainUrl === "") done("");
      else if (drainTarget === undefined)
        done(`lastcall.dev/drain-url is ${settings.drainUrl}, expected an http URL with an IP`);
      else notify(drainTarget, NOTIFY_TIMEOUT_MS, done);
    },
    countActive: (done) => {
      if (activeTarget === undefined) {
        done(-1, false);
        return;
      }
      dialCount = dialCount + 1;
      callHttp({ target: activeTarget, method: "GET", timeoutMs: COUNT_TIMEOUT_MS }, (response) => {
        done(response.status === 200 ? parseActiveCount(response.body, activeTarget.selector) : -1, false);
      });
    },
  };
}

/**
 * Parses the number of active requests from an app's response.
 *
 * @param selector fragment of the URL: empty for a plain number, `/a/b` for a JSON pointer (RFC 6901), otherwise a Prometheus
 * metric name, optionally with labels: `name{label="x"}`. Matching samples are added up.
 * @returns the number of requests, rounded up, or -1 if unknown
 */
export function parseActiveCount(body: string, selector: string): number {
  if (selector === "") return countOf(body.trim());
  if (selector.startsWith("/")) return numberAt(body, selector);
  return wholeCount(sumOfSamples(body, selector));
}

const COUNT = /^\+?[0-9]{1,15}(\.[0-9]{1,15})?([eE]\+?[0-9]{1,2})?$/;

function countOf(text: string): number {
  return COUNT.test(text) ? wholeCount(Number(text)) : -1;
}

function wholeCount(value: number): number {
  return Number.isFinite(value) && value >= 0 ? Math.ceil(value) : -1;
}

/** Limits the stack of the JSON parser. */
const DEPTH_LIMIT = 64;

function numberAt(body: string, pointer: string): number {
  if (depthOf(body) > DEPTH_LIMIT) return -1;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return -1;
  }
  for (const part of pointer.slice(1).split("/")) {
    value = childOf(value, part.split("~1").join("/").split("~0").join("~"));
  }
  if (typeof value === "number") return wholeCount(value);
  return typeof value === "string" ? countOf(value) : -1;
}

function childOf(value: unknown, key: string): unknown {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return /^(0|[1-9][0-9]{0,8})$/.test(key) ? items[Number(key)] : undefined;
  }
  return isRecord(value) ? value[key] : undefined;
}
