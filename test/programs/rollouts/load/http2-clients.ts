/** HTTP/2 clients of one node: a few sessions with several streams at once, for plain requests or in gRPC's wire format. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { connect as connectTcp } from "node:net";
import { endOfLifeMs } from "./connection-life.ts";
import { grpcMessage, isWholeMessage } from "./grpc-message.ts";
import type { NodeClients, NodePorts } from "./node-ports.ts";

type Kept = {
  readonly session: ClientHttp2Session;
  readonly pod: string;
  readonly openedMs: number;
  readonly endsMs: number;
  requests: number;
  unanswered: number;
  /** Gets nothing new, and is closed with its last answer. */
  retired: boolean;
};

/** As many requests in a row share a session; an answer takes longer than asking all of them. */
const STREAMS_AT_ONCE = 3;

const GRPC_HEADERS = {
  ":method": "POST",
  ":path": "/lastcall.test.Greeter/Greet",
  "content-type": "application/grpc",
  te: "trailers",
};

export function createHttp2Clients(protocol: "http2" | "grpc", ports: NodePorts): NodeClients {
  const { book, plan, nowMs } = ports;
  const slots: (Kept | undefined)[] = Array.from({ length: plan.keptHttp2 }, () => undefined);
  const streams = new Set<ClientHttp2Stream>();
  const sessions = new Set<ClientHttp2Session>();
  let turn = 0;
  let whenEmpty = () => {};

  const dial = (pod: string): Kept => {
    const openedMs = nowMs();
    const port = plan.ports[protocol];
    const session = connect(`http://${pod}:${port}`, {
      createConnection: () => connectTcp({ host: pod, port, localAddress: ports.target.localAddress, noDelay: true }),
    });
    sessions.add(session);
    book.worked(pod);
    // What that costs is seen by each stream.
    session.on("error", () => {});
    session.once("close", () => sessions.delete(session));
    const endsMs = endOfLifeMs(plan.lives, openedMs, ports.random());
    return { session, pod, openedMs, endsMs, requests: 0, unanswered: 0, retired: false };
  };
  const isGood = ({ session, endsMs }: Kept) => !session.closed && !session.destroyed && nowMs() < endsMs;
  /** A session whose life is over, or that was told to go, answers what it was asked and gets nothing new. */
  const take = (slot: number): Kept | undefined => {
    const before = slots[slot];
    if (before !== undefined && isGood(before)) return before;
    retire(slot);
    const pod = ports.nextPod();
    slots[slot] = pod === undefined ? undefined : dial(pod);
    return slots[slot];
  };
  const retire = (slot: number) => {
    const before = slots[slot];
    slots[slot] = undefined;
    if (before === undefined) return;
    before.retired = true;
    closeWhenAnswered(before);
  };
  /** Not before: a GOAWAY overtakes requests that still wait to be written, and Node's server refuses those. */
  const closeWhenAnswered = ({ session, retired, unanswered, pod }: Kept) => {
    if (!retired || unanswered > 0 || session.destroyed) return;
    session.close();
    book.worked(pod);
  };
  const open = ({ session }: Kept): ClientHttp2Stream => {
    if (protocol === "http2") return session.request({ ":path": "/" }, { endStream: true });
    const stream = session.request(GRPC_HEADERS);
    stream.end(grpcMessage("hello"));
    return stream;
  };
  const ended = (stream: ClientHttp2Stream) => {
    streams.delete(stream);
    if (streams.size === 0) whenEmpty();
  };

  const ask = () => {
    const kept = take(Math.trunc(turn++ / STREAMS_AT_ONCE) % slots.length);
    if (kept === undefined) {
      book.failed({ protocol, kind: "no endpoint", pod: "", connectionAgeMs: 0, requestsBefore: 0 });
      return;
    }
    const { pod, openedMs, requests: requestsBefore } = kept;
    kept.requests += 1;
    kept.unanswered += 1;
    book.worked(pod);
    const stream = open(kept);
    streams.add(stream);
    const late = setTimeout(() => stream.destroy(new Error("timed out")), ports.target.timeoutMs);
    watchAnswer(protocol, stream, (kind) => {
      clearTimeout(late);
      kept.unanswered -= 1;
      closeWhenAnswered(kept);
      if (kind === "") book.answered(protocol, pod);
      else if (kind === UNSENT) ask();
      else book.failed({ protocol, kind, pod, connectionAgeMs: Math.round(nowMs() - openedMs), requestsBefore });
      ended(stream);
    });
  };

  return {
    ask,
    sweep: () => {
      for (const [slot, kept] of slots.entries()) if (kept !== undefined && !isGood(kept)) retire(slot);
    },
    stop: async () => {
      if (streams.size > 0)
        await new Promise<void>((done) => {
          whenEmpty = done;
        });
      for (const session of sessions) session.destroy();
    },
  };
}

type Heard = {
  status: number;
  grpcStatus: string;
  whole: boolean;
  unsent: boolean;
  error: string;
  readonly chunks: Uint8Array[];
};

/**
 * Never on the wire: GOAWAY came between the call and the write, and the library gave the request back. It goes to another
 * connection, as one does whose connection was found closed before it was used; no one is asked twice.
 */
const UNSENT = "unsent";
const HEADERS_FRAME = 1;

/** Tells once how the stream ended: empty when its answer was whole and good. */
function watchAnswer(protocol: "http2" | "grpc", stream: ClientHttp2Stream, tell: (failure: string) => void): void {
  const heard: Heard = { status: 0, grpcStatus: "", whole: false, unsent: false, error: "", chunks: [] };
  stream.on("response", (headers) => {
    heard.status = Number(headers[":status"]);
    heard.grpcStatus = String(headers["grpc-status"] ?? "");
  });
  stream.on("trailers", (trailers) => {
    heard.grpcStatus = String(trailers["grpc-status"] ?? "");
  });
  stream.on("data", (chunk: Uint8Array) => heard.chunks.push(chunk));
  stream.once("end", () => {
    heard.whole = true;
  });
  // A frame that could not be sent; without its HEADERS no server ever sees a request.
  stream.on("frameError", (type: number) => {
    if (type === HEADERS_FRAME) heard.unsent = true;
  });
  stream.once("error", (cause: Error) => {
    heard.error = cause.message;
  });
  stream.once("close", () => tell(failureOf(protocol, heard, stream.rstCode)));
}

function failureOf(protocol: "http2" | "grpc", heard: Heard, code: number): string {
  const { status, grpcStatus, whole, unsent, error, chunks } = heard;
  if (unsent && status === 0) return UNSENT;
  if (error !== "") return error;
  if (status === 0 || !whole || code !== 0) return `ended unanswered, code ${code}`;
  if (status !== 200) return `status ${status}`;
  if (protocol === "http2") return chunks.length === 0 ? "empty answer" : "";
  if (grpcStatus !== "0") return `grpc-status ${grpcStatus}`;
  return isWholeMessage(Buffer.concat(chunks)) ? "" : "not one whole message";
}
