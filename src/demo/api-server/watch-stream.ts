/** One watch: what changed since a version, and then every change as it comes. */
import type { ServerResponse } from "node:http";
import type { Clock } from "../clock.ts";
import { type Asked, apiVersionOf } from "./api-resources.ts";
import type { Change, ObjectStore } from "./object-store.ts";

type WatchQuestion = {
  /** Empty or `0`: begins with what there is, each object as if it were new. */
  readonly resourceVersion: string;
  readonly bookmarks: boolean;
  /** 0: the server chooses. */
  readonly timeoutSeconds: number;
};

type WatchPorts = { readonly clock: Clock; readonly store: ObjectStore; readonly closing: AbortSignal };

const DEFAULT_TIMEOUT_SECONDS = 1_800;
/** A client that reads so slowly is cut off, as by a real server; it lists and watches again. */
const UNREAD_LIMIT_BYTES = 1024 * 1024;

export function readWatchQuestion(query: URLSearchParams): WatchQuestion {
  const seconds = Number(query.get("timeoutSeconds") ?? "0");
  return {
    resourceVersion: query.get("resourceVersion") ?? "",
    bookmarks: query.get("allowWatchBookmarks") === "true",
    timeoutSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : 0,
  };
}

/** Answers until the caller leaves, the time it asked for is over, or the server closes. */
export function streamWatch(asked: Asked, question: WatchQuestion, reply: ServerResponse, ports: WatchPorts): void {
  const { store, clock } = ports;
  reply.writeHead(200, { "content-type": "application/json" });
  reply.flushHeaders();
  const say = (type: string, object: unknown): void => {
    reply.write(`${JSON.stringify({ type, object })}\n`);
    if (reply.writableLength > UNREAD_LIMIT_BYTES) reply.destroy();
  };
  const begin = beginning(asked, question, store);
  if (begin === undefined) {
    // A watch that was accepted can only be ended by an event.
    say("ERROR", {
      kind: "Status",
      status: "Failure",
      reason: "Expired",
      message: "too old resource version",
      code: 410,
    });
    reply.end();
    return;
  }
  for (const { type, object } of begin) say(type, object);

  const over = new AbortController();
  const end = store.subscribe((change) => {
    if (concerns(asked, change)) say(change.type, change.object);
  });
  const finish = (): void => {
    if (question.bookmarks) say("BOOKMARK", bookmark(asked, store.version()));
    reply.end();
  };
  reply.once("close", () => {
    over.abort();
    end();
  });
  ports.closing.addEventListener("abort", () => reply.destroy(), { signal: over.signal });
  const limitMs = (question.timeoutSeconds || DEFAULT_TIMEOUT_SECONDS) * 1_000;
  void clock.wait(limitMs, over.signal).then(() => {
    if (!over.signal.aborted) finish();
  });
}

/** `undefined` when the version asked for is forgotten. */
function beginning(
  asked: Asked,
  question: WatchQuestion,
  store: ObjectStore,
): readonly Pick<Change, "type" | "object">[] | undefined {
  const { resourceVersion } = question;
  if (resourceVersion === "" || resourceVersion === "0")
    return store.list(asked.resource, asked.namespace).map((object) => ({ type: "ADDED", object }));
  const changes = /^[0-9]{1,15}$/.test(resourceVersion) ? store.changesAfter(Number(resourceVersion)) : undefined;
  return changes?.filter((change) => concerns(asked, change));
}

function concerns({ resource, namespace }: Asked, change: Change): boolean {
  if (change.resource !== resource) return false;
  return namespace === "" || namespaceOf(change) === namespace;
}

function namespaceOf({ object }: Change): unknown {
  const metadata = object["metadata"];
  return typeof metadata === "object" && metadata !== null && "namespace" in metadata ? metadata.namespace : "";
}

function bookmark({ resource }: Asked, version: number): object {
  return {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: { resourceVersion: String(version), creationTimestamp: null },
  };
}
