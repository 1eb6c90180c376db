/** Runs the HTTP/2 clients of one node: a few sessions with concurrent streams, for plain requests or gRPC calls. */
import type { ClientHttp2Session, ClientHttp2Stream } from "node:http2";
import { isCompleteFrame } from "../../harness/grpc-frame.ts";
import { collectResponse, grpcCall, type Http2Response, openSession } from "../../harness/http2-client.ts";
import type { NodeClients, NodePorts } from "./node-ports.ts";
import { chooseCloseMs } from "./timing.ts";

type PooledSession = {
  readonly session: ClientHttp2Session;
  readonly pod: string;
  readonly openedMs: number;
  readonly endsMs: number;
  requests: number;
  openRequests: number;
  isRetired: boolean;
};

/** Consecutive requests that share a session; they overlap, because the first response arrives after the last request was sent. */
const CONCURRENT_STREAMS = 3;

export function createHttp2Clients(protocol: "http2" | "grpc", ports: NodePorts): NodeClients {
  const { counter, plan, nowMs } = ports;
  const slots: (PooledSession | undefined)[] = Array.from({ length: plan.keptHttp2 }, () => undefined);
  const streams = new Set<ClientHttp2Stream>();
  const sessions = new Set<ClientHttp2Session>();
  let requestCount = 0;
  let onEmpty = () => {};

  const connectTo = (pod: string): PooledSession => {
    const openedMs = nowMs();
    const session = openSession(pod, plan.ports[protocol], ports.target.localAddress);
    sessions.add(session);
    counter.recordActivity(pod);
    session.once("close", () => sessions.delete(session));
    const endsMs = chooseCloseMs(plan.lives, openedMs, ports.random());
    return { session, pod, openedMs, endsMs, requests: 0, openRequests: 0, isRetired: false };
  };
  const isUsable = ({ session, endsMs }: PooledSession) => !session.closed && !session.destroyed && nowMs() < endsMs;
  const acquireSession = (slot: number): PooledSession | undefined => {
    const pooled = slots[slot];
    if (pooled !== undefined && isUsable(pooled)) return pooled;
    retire(slot);
    const pod = ports.nextPod();
    slots[slot] = pod === undefined ? undefined : connectTo(pod);
    return slots[slot];
  };
  const retire = (slot: number) => {
    const pooled = slots[slot];
    slots[slot] = undefined;
    if (pooled === undefined) return;
    pooled.isRetired = true;
    closeIfComplete(pooled);
  };
  /** If a session closed before all its responses, GOAWAY would precede its queued requests, and Node's server would refuse them. */
  const closeIfComplete = ({ session, isRetired, openRequests, pod }: PooledSession) => {
    if (!isRetired || openRequests > 0 || session.destroyed) return;
    session.close();
    counter.recordActivity(pod);
  };
  const startStream = ({ session }: PooledSession): ClientHttp2Stream =>
    protocol === "http2"
      ? session.request({ ":path": "/" }, { endStream: true })
      : grpcCall(session, "/lastcall.test.Greeter/Greet", "hello");
  const removeStream = (stream: ClientHttp2Stream) => {
    streams.delete(stream);
    if (streams.size === 0) onEmpty();
  };

  const sendRequest = () => {
    const pooled = acquireSession(Math.trunc(requestCount++ / CONCURRENT_STREAMS) % slots.length);
    if (pooled === undefined) {
      counter.countFailure({ protocol, kind: "no endpoint", pod: "", connectionAgeMs: 0, requestsBefore: 0 });
      return;
    }
    const { pod, openedMs, requests: requestsBefore } = pooled;
    pooled.requests += 1;
    pooled.openRequests += 1;
    counter.recordActivity(pod);
    const stream = startStream(pooled);
    streams.add(stream);
    const timeout = setTimeout(() => stream.destroy(new Error("timed out")), ports.target.timeoutMs);
    collectResponse(stream, (response) => {
      const failure = describeFailure(protocol, response, stream.rstCode);
      clearTimeout(timeout);
      pooled.openRequests -= 1;
      closeIfComplete(pooled);
      if (failure === "") counter.countResponse(protocol, pod);
      else if (failure === UNSENT) sendRequest();
      else
        counter.countFailure({
          protocol,
          kind: failure,
          pod,
          connectionAgeMs: Math.round(nowMs() - openedMs),
          requestsBefore,
        });
      removeStream(stream);
    });
  };

  return {
    sendRequest,
    closeExpired: () => {
      for (const [slot, pooled] of slots.entries()) if (pooled !== undefined && !isUsable(pooled)) retire(slot);
    },
    stop: async () => {
      if (streams.size > 0)
        await new Promise<void>((done) => {
          onEmpty = done;
        });
      for (const session of sessions) session.destroy();
    },
  };
}

/**
 * Result of a request whose client received GOAWAY before it wrote the request's HEADERS. The client sends the request on
 * another connection, which is not a retry, because no server has received the request.
 */
const UNSENT = "unsent";

function describeFailure(protocol: "http2" | "grpc", response: Http2Response, code: number): string {
  const { status, grpcStatus, complete, unsent, error, chunks } = response;
  if (unsent && status === 0) return UNSENT;
  if (error !== "") return error;
  if (status === 0 || !complete || code !== 0) return `ended without a response, code ${code}`;
  if (status !== 200) return `status ${status}`;
  if (protocol === "http2") return chunks.length === 0 ? "empty response" : "";
  if (grpcStatus !== "0") return `grpc-status ${grpcStatus}`;
  return isCompleteFrame(Buffer.concat(chunks)) ? "" : "incomplete gRPC message";
}
