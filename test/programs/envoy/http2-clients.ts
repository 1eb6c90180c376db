/** HTTP/2 and gRPC clients. */
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from "node:http2";
import { readFrames } from "../harness/grpc-frame.ts";
import { grpcCall, type Http2Answer, openSession, watchAnswer } from "../harness/http2-client.ts";
import type { Clients, Place } from "./envoy-scenario.ts";
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
const WORK_MS = 5;

/** Keeps each connection until GOAWAY; then the client reconnects, to the upstream once the Pod is withdrawn. */
export function http2Load({ clients, loopsEach, paceMs, protocol }: Http2Load): (place: Place) => Promise<Clients> {
  return (place) => {
    const loops = createRequestLoops(place, paceMs);
    const sendOn = ({ to, byPod }: Current) =>
      protocol === "grpc" ? sendGrpc(to, WORK_MS, byPod) : sendPlain(to, WORK_MS, byPod);
    const client = async () => {
      const session = keptSession(place, loops);
      const loop = () =>
        loops.loop(async () => {
          const first = await sendOn(session.current());
          if (first.failure !== REFUSED) return first;
          // The server did not process the stream, so libraries retry it on another connection; this client does so once.
          loops.countRefused();
          return sendOn(session.current());
        });
      await Promise.all(Array.from({ length: loopsEach }, loop));
      session.current().to.destroy();
    };
    return Promise.resolve(loops.clientsOf(Array.from({ length: clients }, client)));
  };
}

export function http2Idle(): (place: Place) => Promise<Clients> {
  return async (place) => {
    const session = open(place, true);
    const { failure } = await sendPlain(session, WORK_MS, true);
    const lastTrafficMs = place.clock.nowMs();
    return {
      counts: { answered: failure === "" ? 1 : 0, failures: failure === "" ? [] : [failure] },
      lastTrafficMs: () => lastTrafficMs,
      withdraw: () => {},
      stop: () => Promise.resolve(session.destroy()),
    };
  };
}

/** Reads one stream of messages and closes it after a while, or never. A stream that ends before is a failure. */
export function grpcStream(everyMs: number, closesAfterMs: number): (place: Place) => Promise<Clients> {
  return async (place) => {
    const counts = { answered: 0, failures: [] as string[] };
    let lastTrafficMs = place.clock.nowMs();
    let closed = false;
    const session = open(place, true);
    const stream = grpcCall(session, `${SERVICE}/Stream`, String(everyMs));
    stream.on("error", () => {});
    stream.on("data", () => {
      counts.answered += 1;
      lastTrafficMs = place.clock.nowMs();
    });
    stream.on("close", () => {
      if (!closed) counts.failures.push("the stream ended");
    });
    const close = () => {
      if (closed) return;
      closed = true;
      lastTrafficMs = place.clock.nowMs();
      session.destroy();
    };
    if (Number.isFinite(closesAfterMs)) void place.clock.wait(closesAfterMs).then(close);
    await new Promise((received) => stream.once("data", received));
    return { counts, lastTrafficMs: () => lastTrafficMs, withdraw: () => {}, stop: () => Promise.resolve(close()) };
  };
}

type Current = { readonly to: ClientHttp2Session; readonly byPod: boolean };
type KeptSession = { readonly current: () => Current };

function keptSession(place: Place, loops: RequestLoops): KeptSession {
  let byPod = true;
  let to = open(place, true);
  return {
    current: () => {
      if (to.closed || to.destroyed) {
        byPod = !loops.withdrawn();
        to = open(place, byPod);
      }
      return { to, byPod };
    },
  };
}

function open(place: Place, toPod: boolean): ClientHttp2Session {
  return toPod
    ? openSession(place.pod, PROXY.web, place.sourceAddress)
    : openSession(place.upstream, UPSTREAM.http2, place.sourceAddress);
}

function sendPlain(session: ClientHttp2Session, ms: number, byPod: boolean): Promise<RequestResult> {
  return resultOf(session.request({ ":path": `/${ms}` }), byPod, ({ status }) =>
    status === 200 ? "" : `status ${status}`,
  );
}

function sendGrpc(session: ClientHttp2Session, ms: number, byPod: boolean): Promise<RequestResult> {
  return resultOf(grpcCall(session, `${SERVICE}/Wait`, String(ms)), byPod, ({ status, grpcStatus, chunks }) => {
    const body = Buffer.concat(chunks);
    const whole = status === 200 && grpcStatus === "0" && readFrames(body)[0] === "done";
    return whole ? "" : `status ${status}, grpc-status ${grpcStatus}, ${body.length} bytes`;
  });
}

function resultOf(
  stream: ClientHttp2Stream,
  byPod: boolean,
  check: (answer: Http2Answer) => string,
): Promise<RequestResult> {
  return new Promise((done) => {
    watchAnswer(stream, (answer) => {
      if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) {
        done({ failure: REFUSED, byPod });
        return;
      }
      const failure = answer.error === "" ? check(answer) : answer.error;
      done({ failure: failure === "" || byPod ? failure : `${failure} elsewhere`, byPod });
    });
  });
}
