/** Where Envoy's admin interface is, and the commands of a drain that are sent there. */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import { driverRow } from "../../../contract/driver-table.ts";
import type { HttpStream } from "../../http/http-client.ts";
import { adminCall, type HttpTarget, parseAdminTarget } from "../../http/http-target.ts";

/** Where to look for it; empty where the URL of the settings cannot be dialled. */
export function adminsOf(settings: DrainSettings): readonly HttpTarget[] {
  const urls = settings.driverUrl === "" ? driverRow(settings.driver).usualUrls : [settings.driverUrl];
  const admins: HttpTarget[] = [];
  for (const url of urls) {
    const target = parseAdminTarget(url);
    if (target !== undefined) admins.push(target);
  }
  return admins;
}

/** A sidecar's outgoing side has to work until the app is gone, so only what comes in is told. */
export function drainPathsOf(settings: DrainSettings): readonly string[] {
  return settings.driver === "istio" ? [DRAIN_INBOUND] : [FAIL_HEALTH, DRAIN_ALL];
}

/** Puts `connection: close` on every answer at once, whatever the drain strategy. The only call that can be taken back. */
export const FAIL_HEALTH = "/healthcheck/fail";
export const PASS_HEALTH = "/healthcheck/ok";
/** Reaches HTTP/3 as well. Without `skip_exit` the sockets would close; without `graceful` old versions refuse that. */
const DRAIN_ALL = "/drain_listeners?graceful&skip_exit";
const DRAIN_INBOUND = "/drain_listeners?inboundonly&graceful&skip_exit";

/** As lines of text, `name: value`; the pattern is in Envoy's dialect and percent-encoded. */
export const STATS = `/stats?filter=${encodeURIComponent(
  "^(listener\\..*\\.downstream_cx_(active|total)" +
    "|listener\\..*\\.http\\..*\\.downstream_rq_completed" +
    "|http\\..*\\.downstream_(rq_active|rq_total|cx_active|cx_upgrades_active)" +
    "|udp\\..*\\.downstream_sess_(active|total)" +
    "|server\\.hot_restart_epoch)$",
)}`;

/** POSTs to Envoy's admin interface, one after the other, each again until it is heard or refused. */
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
