/** HTTP/2 and gRPC clients. */
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from "node:http2";
import { decodeFrames } from "../harness/grpc-frame.ts";
import { collectResponse, grpcCall, type Http2Response, openSession } from "../harness/http2-client.ts";
import type { Clients, Target } from "./envoy-scenario.ts";
import { createRequestLoops, type RequestLoops, type RequestResult } from "./request-loops.ts";
import { PROXY, UPSTREAM } from "./upstream-ports.ts";

type Http2Load = {
  readonly clients: number;
  readonly loopsEach: number;
  readonly paceMs: number;
  readonly protocol: "http2" | "grpc";
};

const SERVICE = "/lastcall.test.Upstream";
const REFUSED = "refused";
const RESPONSE_MS = 5;

/** Keeps each connection until GOAWAY; then the client reconnects, to the upstream once the Pod is withdrawn. */
export function http2Load({ clients, loopsEach, paceMs, protocol }: Http2Load): (target: Target) => Promise<Clients> {
  return (target) => {
    const loops = createRequestLoops(target, paceMs);
    const sendRequest = ({ to, byPod }: OpenSession) =>
      protocol === "grpc" ? sendGrpc(to, RESPONSE_MS, byPod) : sendPlain(to, RESPONSE_MS, byPod);
    const client = async () => {
      const clientSession = createClientSession(target, loops);
      const loop = () =>
        loops.loop(async () => {
          const result = await sendRequest(clientSession.current());
          if (result.failure !== REFUSED) return result;
          // The server did not process the stream, so libraries retry it on another connection; this client does so once.
          loops.countRefused();
          return sendRequest(clientSession.current());
        });
      await Promise.all(Array.from({ length: loopsEach }, loop));
      clientSession.current().to.destroy();
    };
    return Promise.resolve(loops.clientsOf(Array.from({ length: clients }, client)));
  };
}

export function http2Idle(): (target: Target) => Promise<Clients> {
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

/** Reads one stream of messages and closes it after a while, or never. A stream that ends before is a failure. */
export function grpcStream(everyMs: number, closesAfterMs: number): (target: Target) => Promise<Clients> {
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

type OpenSession = { readonly to: ClientHttp2Session; readonly byPod: boolean };
type ClientSession = { readonly current: () => OpenSession };

function createClientSession(target: Target, loops: RequestLoops): ClientSession {
  let byPod = true;
  let to = connectTo(target, true);
  return {
    current: () => {
      if (to.closed || to.destroyed) {
        byPod = !loops.withdrawn();
        to = connectTo(target, byPod);
      }
      return { to, byPod };
    },
  };
}

function connectTo(target: Target, toPod: boolean): ClientHttp2Session {
  return toPod
    ? openSession(target.pod, PROXY.web, target.sourceAddress)
    : openSession(target.upstream, UPSTREAM.http2, target.sourceAddress);
}

function sendPlain(session: ClientHttp2Session, ms: number, byPod: boolean): Promise<RequestResult> {
  return resultOf(session.request({ ":path": `/${ms}` }), byPod, ({ status }) =>
    status === 200 ? "" : `status ${status}`,
  );
}

function sendGrpc(session: ClientHttp2Session, ms: number, byPod: boolean): Promise<RequestResult> {
  return resultOf(grpcCall(session, `${SERVICE}/Wait`, String(ms)), byPod, ({ status, grpcStatus, chunks }) => {
    const body = Buffer.concat(chunks);
    const isComplete = status === 200 && grpcStatus === "0" && decodeFrames(body)[0] === "done";
    return isComplete ? "" : `status ${status}, grpc-status ${grpcStatus}, ${body.length} bytes`;
  });
}

function resultOf(
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
      done({ failure: failure === "" || byPod ? failure : `${failure} elsewhere`, byPod });
    });
  });
}
