/** What the admin port says to which request. Pure. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import { drainListPage, drainPage } from "../../drain-history/page/drain-page.ts";
import { timelineSvg } from "../../drain-history/timeline-svg.ts";
import { isNamespaceName } from "../../kubernetes/names.ts";
import type { DrainRing } from "../drains/drain-ring.ts";

export type AdminParts = {
  readonly drains: Pick<DrainRing, "list" | "find">;
  /** This replica's name. */
  readonly instance: string;
};

export type Answer = {
  readonly status: number;
  readonly type: string;
  /** Written when it is called: only an answer with status 200 takes time. */
  readonly body: () => string;
};

/** @param target path and query as they came */
type AdminAnswers = (method: string, target: string) => Answer;

const TEXT = "text/plain; charset=utf-8";
const HTML = "text/html; charset=utf-8";
const SVG = "image/svg+xml; charset=utf-8";

const DRAIN_PATH = /^\/drains\/([-0-9A-Za-z]{1,64})(\.svg)?$/;

export function adminAnswers({ drains, instance }: AdminParts): AdminAnswers {
  // A record never changes, and is asked for many times.
  const texts = new WeakMap<DrainRecord, string>();
  const jsonOf = (record: DrainRecord): string => {
    const text = texts.get(record) ?? JSON.stringify(record);
    texts.set(record, text);
    return text;
  };

  const json = (namespace: string | undefined): Answer => {
    const head = `{"version":1,"instance":${JSON.stringify(instance)},"drains":[`;
    return ok("application/json", () => `${head}${drains.list(namespace).map(jsonOf).join(",")}]}\n`);
  };

  const list = (path: string, query: string): Answer => {
    const namespace = new URLSearchParams(query).get("namespace") ?? undefined;
    if (namespace !== undefined && !isNamespaceName(namespace)) {
      return sentenceAnswer(400, "namespace: what was given is not the name of a namespace.");
    }
    if (path === "/drains.json") return json(namespace);
    return ok(HTML, () => drainListPage({ drains: drains.list(namespace), instance, namespace }));
  };

  const one = (path: string): Answer => {
    const [, id, picture] = DRAIN_PATH.exec(path) ?? [];
    if (id === undefined) return sentenceAnswer(404, "There are GET /, /drains.json, /drains/ID and /drains/ID.svg.");
    const record = drains.find(id);
    if (record === undefined) return sentenceAnswer(404, `Replica ${instance} remembers no drain with this id.`);
    return picture === undefined ? ok(HTML, () => drainPage(record)) : ok(SVG, () => timelineSvg(record));
  };

  return (method, target) => {
    if (method !== "GET" && method !== "HEAD") return sentenceAnswer(405, "This port only answers GET.");
    const asked = target.indexOf("?");
    const path = asked < 0 ? target : target.slice(0, asked);
    const isList = path === "/" || path === "/drains.json";
    return isList ? list(path, target.slice(path.length)) : one(path);
  };
}

export function sentenceAnswer(status: number, words: string): Answer {
  return { status, type: TEXT, body: () => `${words}\n` };
}

function ok(type: string, body: () => string): Answer {
  return { status: 200, type, body };
}
