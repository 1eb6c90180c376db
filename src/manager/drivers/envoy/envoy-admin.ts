/** Lists the possible addresses of Envoy's admin interface, and sends commands to it. */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import { driverRow } from "../../../contract/driver-table.ts";
import type { HttpStream } from "../../http/http-client.ts";
import { adminTarget, type HttpTarget, parseAdminTarget } from "../../http/http-target.ts";

export function adminsOf(settings: DrainSettings): readonly HttpTarget[] {
  const urls = settings.driverUrl === "" ? driverRow(settings.driver).defaultUrls : [settings.driverUrl];
  const admins: HttpTarget[] = [];
  for (const url of urls) {
    const target = parseAdminTarget(url);
    if (target !== undefined) admins.push(target);
  }
  return admins;
}

/** In an Istio sidecar only inbound listeners drain: the app needs the outbound listeners until it exits. */
export function drainPathsOf(settings: DrainSettings): readonly string[] {
  return settings.driver === "istio" ? [DRAIN_INBOUND] : [FAIL_HEALTH, DRAIN_ALL];
}

/** Adds `connection: close` to every response at once, independent of the drain strategy. Only this command can be reverted. */
export const FAIL_HEALTH = "/healthcheck/fail";
export const PASS_HEALTH = "/healthcheck/ok";
/** Also drains HTTP/3 listeners. `skip_exit` keeps the listeners open; older versions accept it only together with `graceful`. */
const DRAIN_ALL = "/drain_listeners?graceful&skip_exit";
const DRAIN_INBOUND = "/drain_listeners?inboundonly&graceful&skip_exit";

/** Path of the statistics, which are lines `name: value`. The filter is a percent-encoded RE2 pattern. */
export const STATS_PATH = `/stats?filter=${encodeURIComponent(
  "^(listener\\..*\\.downstream_cx_(active|total)" +
    "|listener\\..*\\.http\\..*\\.downstream_rq_completed" +
    "|http\\..*\\.downstream_(rq_active|rq_total|cx_active|cx_upgrades_active)" +
    "|udp\\..*\\.downstream_sess_(active|total|[rt]x_datagrams)" +
    "|server\\.hot_restart_epoch)$",
)}`;

export type CommandResult = {
  readonly path: string;
  readonly failure: string;
  /** Whether Envoy responded with 4xx. A retry would fail too. */
  readonly refused: boolean;
};

type Commands = {
  readonly admin: HttpTarget;
  readonly paths: readonly string[];
  readonly timeoutMs: number;
  readonly stream: HttpStream;
};

const CALL_TIMEOUT_MS = 2_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 2_000;

/** Sends the commands by POST, one after the other, with retries. @param done called exactly once, with one result per command */
export function postCommands(commands: Commands, done: (results: readonly CommandResult[]) => void): void {
  const results: CommandResult[] = [];
  const startedMs = performance.now();
  const leftMs = (): number => Math.floor(commands.timeoutMs - (performance.now() - startedMs));

  const sendNext = (index: number): void => {
    const path = commands.paths[index];
    if (path === undefined) done(results);
    else attempt(path, index, FIRST_PAUSE_MS);
  };

  const attempt = (path: string, index: number, pauseMs: number): void => {
    const timeoutMs = Math.max(1, Math.min(CALL_TIMEOUT_MS, leftMs()));
    commands.stream({ target: adminTarget(commands.admin, path), method: "POST", timeoutMs }, ignoreBody, (end) => {
      const succeeded = end.status >= 200 && end.status < 300;
      const shouldRetry = !succeeded && (end.status === 0 || end.status >= 500) && leftMs() > pauseMs;
      if (shouldRetry) {
        setTimeout(() => attempt(path, index, Math.min(LONGEST_PAUSE_MS, pauseMs * 2)), pauseMs);
        return;
      }
      const why = end.status === 0 ? end.failure : `status ${end.status}`;
      results.push({
        path,
        failure: succeeded ? "" : `POST ${path}: ${why}`,
        refused: end.status >= 400 && end.status < 500,
      });
      sendNext(index + 1);
    });
  };

  sendNext(0);
}

function ignoreBody(): string {
  return "";
}
