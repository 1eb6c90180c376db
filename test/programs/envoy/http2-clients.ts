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
const RESPONSE_DELAY_MS = 5;

/** Each client uses its connection until GOAWAY, and reconnects to the Pod or, after the withdrawal, to the upstream. */
export function http2Load({
  clients,
  loopsEach,
  paceMs,
  protocol,
}: Http2Load): (environment: ClientEnvironment) => Promise<Clients> {
  return (environment) => {
    const loops = createRequestLoops(environment, paceMs);
    const sendRequest = ({ session, isToPod }: OpenSession) =>
      protocol === "grpc"
        ? sendGrpc(session, RESPONSE_DELAY_MS, isToPod)
        : sendPlain(session, RESPONSE_DELAY_MS, isToPod);
    const runClient = async () => {
      const clientSession = createClientSession(environment, loops);
      const runLoop = () =>
        loops.runLoop(async () => {
          const result = await sendRequest(clientSession.current());
          if (result.failure !== REFUSED) return result;
          // The server did not process the stream, so libraries retry it on another connection; this client retries once.
          loops.countRefused();
          return sendRequest(clientSession.current());
        });
      await Promise.all(Array.from({ length: loopsEach }, runLoop));
      clientSession.current().session.destroy();
    };
    return Promise.resolve(loops.clientsOf(Array.from({ length: clients }, runClient)));
  };
}

export function http2Idle(): (environment: ClientEnvironment) => Promise<Clients> {
  return async (environment) => {
    const session = connectTo(environment, true);
    const { failure } = await sendPlain(session, RESPONSE_DELAY_MS, true);
    const lastTrafficMs = environment.clock.nowMs();
    return {
      counts: { answered: failure === "" ? 1 : 0, failures: failure === "" ? [] : [failure] },
      lastTrafficMs: () => lastTrafficMs,
      withdraw: () => {},
      stop: () => Promise.resolve(session.destroy()),
    };
  };
}

/** Reads one stream of messages and closes it after `closesAfterMs`. Counts a stream that the server ends as a failure. */
export function grpcStream(
  everyMs: number,
  closesAfterMs: number,
): (environment: ClientEnvironment) => Promise<Clients> {
  return async (environment) => {
    const counts = { answered: 0, failures: [] as string[] };
    let lastTrafficMs = environment.clock.nowMs();
    let isClosed = false;
    const session = connectTo(environment, true);
    const stream = grpcCall(session, `${SERVICE}/Stream`, String(everyMs));
    stream.on("error", () => {});
    stream.on("data", () => {
      counts.answered += 1;
      lastTrafficMs = environment.clock.nowMs();
    });
    stream.on("close", () => {
      if (!isClosed) counts.failures.push("the stream ended");
    });
    const close = () => {
      if (isClosed) return;
      isClosed = true;
      lastTrafficMs = environment.clock.nowMs();
      session.destroy();
    };
    if (Number.isFinite(closesAfterMs)) void environment.clock.wait(closesAfterMs).then(close);
    await new Promise((received) => stream.once("data", received));
    return { counts, lastTrafficMs: () => lastTrafficMs, withdraw: () => {}, stop: () => Promise.resolve(close()) };
  };
}

type OpenSession = { readonly session: ClientHttp2Session; readonly isToPod: boolean };
type ClientSession = { readonly current: () => OpenSession };

function createClientSession(environment: ClientEnvironment, loops: RequestLoops): ClientSession {
  let isToPod = true;
  let session = connectTo(environment, true);
  return {
    current: () => {
      if (session.closed || session.destroyed) {
        isToPod = !loops.isWithdrawn();
        session = connectTo(environment, isToPod);
      }
      return { session, isToPod };
    },
  };
}

function connectTo(environment: ClientEnvironment, isToPod: boolean): ClientHttp2Session {
  return isToPod
    ? openSession(environment.pod, PROXY_PORTS.web, environment.sourceAddress)
    : openSession(environment.upstream, UPSTREAM_PORTS.http2, environment.sourceAddress);
}

function sendPlain(session: ClientHttp2Session, ms: number, isToPod: boolean): Promise<RequestResult> {
  return receiveResult(session.request({ ":path": `/${ms}` }), isToPod, ({ status }) =>
    status === 200 ? "" : `status ${status}`,
  );
}

function sendGrpc(session: ClientHttp2Session, ms: number, isToPod: boolean): Promise<RequestResult> {
  return receiveResult(grpcCall(session, `${SERVICE}/Wait`, String(ms)), isToPod, ({ status, grpcStatus, chunks }) => {
    const body = Buffer.concat(chunks);
    const isComplete = status === 200 && grpcStatus === "0" && decodeFrames(body)[0] === "done";
    return isComplete ? "" : `status ${status}, grpc-status ${grpcStatus}, ${body.length} bytes`;
  });
}

function receiveResult(
  stream: ClientHttp2Stream,
  isToPod: boolean,
  check: (response: Http2Response) => string,
): Promise<RequestResult> {
  return new Promise((done) => {
    collectResponse(stream, (response) => {
      if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) {
        done({ failure: REFUSED, isToPod });
        return;
      }
      const failure = response.error === "" ? check(response) : response.error;
      done({ failure: failure === "" || isToPod ? failure : `${failure} at the upstream`, isToPod });
    });
  });
}
