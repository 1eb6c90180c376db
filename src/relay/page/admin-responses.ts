/** Renders the responses of the admin port. Pure. */
import { isDnsLabel } from "../../contract/untrusted-text.ts";
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { drainListPage, drainPage } from "../../drain-history/page/drain-page.ts";
import { timelineSvg } from "../../drain-history/timeline-svg.ts";
import type { DrainRing } from "../drains/drain-ring.ts";

export type AdminParts = {
  readonly drains: Pick<DrainRing, "list" | "find">;
  readonly instance: string;
};

export type AdminResponse = {
  readonly status: number;
  readonly contentType: string;
  readonly body: () => string;
};

const HTML = "text/html; charset=utf-8";
const SVG = "image/svg+xml; charset=utf-8";

const DRAIN_PATH = /^\/drains\/([-0-9A-Za-z]{1,64})(\.svg)?$/;

export function createAdminHandler({
  drains,
  instance,
}: AdminParts): (method: string, target: string) => AdminResponse {
  const jsonCache = new WeakMap<DrainRecord, string>();
  const jsonOf = (record: DrainRecord): string => {
    const text = jsonCache.get(record) ?? JSON.stringify(record);
    jsonCache.set(record, text);
    return text;
  };

  const listResponse = (path: string, query: string): AdminResponse => {
    const namespace = new URLSearchParams(query).get("namespace") ?? undefined;
    if (namespace !== undefined && !isDnsLabel(namespace))
      return textResponse(
        400,
        "The query parameter namespace is not a valid name, expected at most 63 characters of a-z, 0-9 and -.",
      );
    if (path === "/")
      return okResponse(HTML, () => drainListPage({ drains: drains.list(namespace), instance, namespace }));
    const jsonStart = `{"version":1,"instance":${JSON.stringify(instance)},"drains":[`;
    return okResponse("application/json", () => `${jsonStart}${drains.list(namespace).map(jsonOf).join(",")}]}\n`);
  };

  const drainResponse = (path: string): AdminResponse => {
    const [, id, svgSuffix] = DRAIN_PATH.exec(path) ?? [];
    if (id === undefined)
      return textResponse(404, "Not found. The paths are GET /, /drains.json, /drains/ID and /drains/ID.svg.");
    const record = drains.find(id);
    if (record === undefined)
      return textResponse(
        404,
        `Replica ${instance} does not have a drain with this id. Other replicas record other drains.`,
      );
    return svgSuffix === undefined
      ? okResponse(HTML, () => drainPage(record))
      : okResponse(SVG, () => timelineSvg(record));
  };

  return (method, target) => {
    if (method !== "GET" && method !== "HEAD") return textResponse(405, "This port accepts only GET and HEAD.");
    const [path = ""] = target.split("?", 1);
    return path === "/" || path === "/drains.json"
      ? listResponse(path, target.slice(path.length))
      : drainResponse(path);
  };
}

export function textResponse(status: number, sentence: string): AdminResponse {
  return { status, contentType: "text/plain; charset=utf-8", body: () => `${sentence}\n` };
}

function okResponse(contentType: string, body: () => string): AdminResponse {
  return { status: 200, contentType, body };
}
