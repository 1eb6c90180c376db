/** HTTP/2 clients of one node: a few sessions with concurrent streams, for plain requests or in gRPC's wire format. */
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { isWholeMessage } from "../../harness/grpc-frame.ts";
import { grpcCall, type Http2Answer, openSession, watchAnswer } from "../../harness/http2-client.ts";
import type { NodeClients, NodePorts } from "./node-ports.ts";
import { endOfLifeMs } from "./timing.ts";

type Kept = {
  readonly session: ClientHttp2Session;
  readonly pod: string;
  readonly openedMs: number;
  readonly endsMs: number;
  requests: number;
  unanswered: number;
  retired: boolean;
};

/** Consecutive requests that share a session; they overlap, as an answer takes longer than sending all of them. */
const STREAMS_AT_ONCE = 3;

export function createHttp2Clients(protocol: "http2" | "grpc", ports: NodePorts): NodeClients {
  const { counter, plan, nowMs } = ports;
  const slots: (Kept | undefined)[] = Array.from({ length: plan.keptHttp2 }, () => undefined);
  const streams = new Set<ClientHttp2Stream>();
  const sessions = new Set<ClientHttp2Session>();
  let turn = 0;
  let whenEmpty = () => {};

  const dial = (pod: string): Kept => {
    const openedMs = nowMs();
    const session = openSession(pod, plan.ports[protocol], ports.target.localAddress);
    sessions.add(session);
    counter.recordActivity(pod);
    session.once("close", () => sessions.delete(session));
    const endsMs = endOfLifeMs(plan.lives, openedMs, ports.random());
    return { session, pod, openedMs, endsMs, requests: 0, unanswered: 0, retired: false };
  };
  const isGood = ({ session, endsMs }: Kept) => !session.closed && !session.destroyed && nowMs() < endsMs;
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
  /** Closing earlier would send GOAWAY ahead of queued requests, which Node's server then refuses. */
  const closeWhenAnswered = ({ session, retired, unanswered, pod }: Kept) => {
    if (!retired || unanswered > 0 || session.destroyed) return;
    session.close();
    counter.recordActivity(pod);
  };
  const open = ({ session }: Kept): ClientHttp2Stream =>
    protocol === "http2"
      ? session.request({ ":path": "/" }, { endStream: true })
      : grpcCall(session, "/lastcall.test.Greeter/Greet", "hello");
  const removeStream = (stream: ClientHttp2Stream) => {
    streams.delete(stream);
    if (streams.size === 0) whenEmpty();
  };

  const sendRequest = () => {
    const kept = take(Math.trunc(turn++ / STREAMS_AT_ONCE) % slots.length);
    if (kept === undefined) {
      counter.countFailure({ protocol, kind: "no endpoint", pod: "", connectionAgeMs: 0, requestsBefore: 0 });
      return;
    }
    const { pod, openedMs, requests: requestsBefore } = kept;
    kept.requests += 1;
    kept.unanswered += 1;
    counter.recordActivity(pod);
    const stream = open(kept);
    streams.add(stream);
    const late = setTimeout(() => stream.destroy(new Error("timed out")), ports.target.timeoutMs);
    watchAnswer(stream, (answer) => {
      const kind = failureOf(protocol, answer, stream.rstCode);
      clearTimeout(late);
      kept.unanswered -= 1;
      closeWhenAnswered(kept);
      if (kind === "") counter.countAnswer(protocol, pod);
      else if (kind === UNSENT) sendRequest();
      else
        counter.countFailure({ protocol, kind, pod, connectionAgeMs: Math.round(nowMs() - openedMs), requestsBefore });
      removeStream(stream);
    });
  };

  return {
    sendRequest,
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

/**
 * GOAWAY came between the call and the write, so the request was never sent. It goes to another connection, which is not a
 * retry: no server received it.
 */
const UNSENT = "unsent";

function failureOf(protocol: "http2" | "grpc", answer: Http2Answer, code: number): string {
  const { status, grpcStatus, complete, unsent, error, chunks } = answer;
  if (unsent && status === 0) return UNSENT;
  if (error !== "") return error;
  if (status === 0 || !complete || code !== 0) return `ended unanswered, code ${code}`;
  if (status !== 200) return `status ${status}`;
  if (protocol === "http2") return chunks.length === 0 ? "empty answer" : "";
  if (grpcStatus !== "0") return `grpc-status ${grpcStatus}`;
  return isWholeMessage(Buffer.concat(chunks)) ? "" : "not one whole message";
}
