/** Where Envoy's admin interface is, and the calls that are made there. Pure. */
import type { DrainSettings } from "../../../contract/drain-settings.ts";
import { driverRow } from "../../../contract/driver-table.ts";
import { type HttpTarget, parseAdminTarget } from "../../http/http-target.ts";

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
