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

export type Answer = {
  readonly status: number;
  readonly type: string;
  readonly body: () => string;
};

const HTML = "text/html; charset=utf-8";
const SVG = "image/svg+xml; charset=utf-8";

const DRAIN_PATH = /^\/drains\/([-0-9A-Za-z]{1,64})(\.svg)?$/;

export function adminAnswers({ drains, instance }: AdminParts): (method: string, target: string) => Answer {
  const texts = new WeakMap<DrainRecord, string>();
  const jsonOf = (record: DrainRecord): string => {
    const text = texts.get(record) ?? JSON.stringify(record);
    texts.set(record, text);
    return text;
  };

  const list = (path: string, query: string): Answer => {
    const namespace = new URLSearchParams(query).get("namespace") ?? undefined;
    if (namespace !== undefined && !isDnsLabel(namespace))
      return sentenceAnswer(400, "The query parameter namespace is not a valid name of a namespace.");
    if (path === "/") return ok(HTML, () => drainListPage({ drains: drains.list(namespace), instance, namespace }));
    const head = `{"version":1,"instance":${JSON.stringify(instance)},"drains":[`;
    return ok("application/json", () => `${head}${drains.list(namespace).map(jsonOf).join(",")}]}\n`);
  };

  const one = (path: string): Answer => {
    const [, id, picture] = DRAIN_PATH.exec(path) ?? [];
    if (id === undefined)
      return sentenceAnswer(404, "Not found. The paths are GET /, /drains.json, /drains/ID and /drains/ID.svg.");
    const record = drains.find(id);
    if (record === undefined) return sentenceAnswer(404, `Replica ${instance} has no drain with this id.`);
    return picture === undefined ? ok(HTML, () => drainPage(record)) : ok(SVG, () => timelineSvg(record));
  };

  return (method, target) => {
    if (method !== "GET" && method !== "HEAD") return sentenceAnswer(405, "This port only answers GET.");
    const [path = ""] = target.split("?", 1);
    return path === "/" || path === "/drains.json" ? list(path, target.slice(path.length)) : one(path);
  };
}

export function sentenceAnswer(status: number, sentence: string): Answer {
  return { status, type: "text/plain; charset=utf-8", body: () => `${sentence}\n` };
}

function ok(type: string, body: () => string): Answer {
  return { status: 200, type, body };
}
