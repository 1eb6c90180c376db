/** Runs HTTP/2 and gRPC clients: request loops, an idle connection, and a gRPC stream. */
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from "node:http2";
import { decodeFrames } from "../harness/grpc-frame.ts";
import { collectResponse, grpcCall, type Http2Response, openSession } from "../harness/http2-client.ts";
import type { ClientEnvironment, Clients } from "./envoy-scenario.ts";
import { createRequestLoops, type RequestLoops, type RequestResult } from "./request-loops.ts";
import { PROXY_PORTS, UPSTREAM_PORTS } from "./upstream-ports.ts";

type Http2Load = {
  readonly clients: number;
  readonly loopsEach: number;
  readonly paceMs: number;
  readonly protocol: "http2" | "grpc";
};

const SERVICE = "/lastcall.test.Upstream";
const REFUSED = "refused";
const RESPONSE_MS = 5;

/** Each client uses its connection until GOAWAY, and reconnects to the Pod or, after the withdrawal, to the upstream. */
export function http2Load({
  clients,
  loopsEach,
  paceMs,
  protocol,
}: Http2Load): (target: ClientEnvironment) => Promise<Clients> {
  return (target) => {
    const loops = createRequestLoops(target, paceMs);
    const sendRequest = ({ session, byPod }: OpenSession) =>
      protocol === "grpc" ? sendGrpc(session, RESPONSE_MS, byPod) : sendPlain(session, RESPONSE_MS, byPod);
    const client = async () => {
      const clientSession = createClientSession(target, loops);
      const loop = () =>
        loops.loop(async () => {
          const result = await sendRequest(clientSession.current());
          if (result.failure !== REFUSED) return result;
          // The server did not process the stream, so libraries retry it on another connection; this client retries once.
          loops.countRefused();
          return sendRequest(clientSession.current());
        });
      await Promise.all(Array.from({ length: loopsEach }, loop));
      clientSession.current().session.destroy();
    };
    return Promise.resolve(loops.clientsOf(Array.from({ length: clients }, client)));
  };
}

export function http2Idle(): (target: ClientEnvironment) => Promise<Clients> {
  return async (target) => {
    const session = connectTo(target, true);
    const { failure } = await sendPlain(session, RESPONSE_MS, true);
    const lastTrafficMs = target.clock.nowMs();
    return {
      counts: { answered: failure === "" ? 1 : 0, failures: failure === "" ? [] : [failure] },
      lastTrafficMs: () => lastTrafficMs,
      withdraw: () => {},
      stop: () => Promise.resolve(session.destroy()),
    };
  };
}

/** Reads one stream of messages and closes it after `closesAfterMs`. Counts a stream that the server ends as a failure. */
export function grpcStream(everyMs: number, closesAfterMs: number): (target: ClientEnvironment) => Promise<Clients> {
  return async (target) => {
    const counts = { answered: 0, failures: [] as string[] };
    let lastTrafficMs = target.clock.nowMs();
    let closed = false;
    const session = connectTo(target, true);
    const stream = grpcCall(session, `${SERVICE}/Stream`, String(everyMs));
    stream.on("error", () => {});
    stream.on("data", () => {
      counts.answered += 1;
      lastTrafficMs = target.clock.nowMs();
    });
    stream.on("close", () => {
      if (!closed) counts.failures.push("the stream ended");
    });
    const close = () => {
      if (closed) return;
      closed = true;
      lastTrafficMs = target.clock.nowMs();
      session.destroy();
    };
    if (Number.isFinite(closesAfterMs)) void target.clock.wait(closesAfterMs).then(close);
    await new Promise((received) => stream.once("data", received));
    return { counts, lastTrafficMs: () => lastTrafficMs, withdraw: () => {}, stop: () => Promise.resolve(close()) };
  };
}

type OpenSession = { readonly session: ClientHttp2Session; readonly byPod: boolean };
type ClientSession = { readonly current: () => OpenSession };

function createClientSession(target: ClientEnvironment, loops: RequestLoops): ClientSession {
  let byPod = true;
  let session = connectTo(target, true);
  return {
    current: () => {
      if (session.closed || session.destroyed) {
        byPod = !loops.withdrawn();
        session = connectTo(target, byPod);
      }
      return { session, byPod };
    },
  };
}

function connectTo(target: ClientEnvironment, toPod: boolean): ClientHttp2Session {
  return toPod
    ? openSession(target.pod, PROXY_PORTS.web, target.sourceAddress)
    : openSession(target.upstream, UPSTREAM_PORTS.http2, target.sourceAddress);
}

function sendPlain(session: ClientHttp2Session, ms: number, byPod: boolean): Promise<RequestResult> {
  return receiveResult(session.request({ ":path": `/${ms}` }), byPod, ({ status }) =>
    status === 200 ? "" : `status ${status}`,
  );
}

function sendGrpc(session: ClientHttp2Session, ms: number, byPod: boolean): Promise<RequestResult> {
  return receiveResult(grpcCall(session, `${SERVICE}/Wait`, String(ms)), byPod, ({ status, grpcStatus, chunks }) => {
    const body = Buffer.concat(chunks);
    const isComplete = status === 200 && grpcStatus === "0" && decodeFrames(body)[0] === "done";
    return isComplete ? "" : `status ${status}, grpc-status ${grpcStatus}, ${body.length} bytes`;
  });
}

function receiveResult(
  stream: ClientHttp2Stream,
  byPod: boolean,
  check: (answer: Http2Response) => string,
): Promise<RequestResult> {
  return new Promise((done) => {
    collectResponse(stream, (answer) => {
      if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) {
        done({ failure: REFUSED, byPod });
        return;
      }
      const failure = answer.error === "" ? check(answer) : answer.error;
      done({ failure: failure === "" || byPod ? failure : `${failure} at the upstream`, byPod });
    });
  });
}
