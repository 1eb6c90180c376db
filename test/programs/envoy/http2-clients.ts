/** Clients of HTTP/2 and of gRPC. */
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from "node:http2";
import { readFrames } from "../harness/grpc-frame.ts";
import { grpcCall, type Http2Answer, openSession, watchAnswer } from "../harness/http2-client.ts";
import { type Asked, createLoops, type Loops } from "./client-loops.ts";
import type { Clients, Place } from "./scene.ts";
import { PROXY, UPSTREAM } from "./upstream-ports.ts";

type Http2Load = {
  readonly clients: number;
  /** Requests that each connection has open side by side. */
  readonly loopsEach: number;
  readonly paceMs: number;
  readonly ask: "plain" | "grpc";
};

const SERVICE = "/scene.Scene";
const REFUSED = "refused";
/** Answers of the app take this long. */
const WORK_MS = 5;

/** Connections live until the proxy sends them away; then each client connects again, to wherever it finds someone. */
export function http2Load({ clients, loopsEach, paceMs, ask }: Http2Load): (place: Place) => Promise<Clients> {
  return (place) => {
    const loops = createLoops(place, paceMs);
    const askOn = ({ to, byPod }: Current) =>
      ask === "grpc" ? askGrpc(to, WORK_MS, byPod) : askPlain(to, WORK_MS, byPod);
    const client = async () => {
      const session = keptSession(place, loops);
      const loop = () =>
        loops.loop(async () => {
          const first = await askOn(session.current());
          if (first.failure !== REFUSED) return first;
          // Not begun, as both sides know: libraries ask again on another connection, and so does this client, once.
          loops.noteRefused();
          return askOn(session.current());
        });
      await Promise.all(Array.from({ length: loopsEach }, loop));
      session.current().to.destroy();
    };
    return Promise.resolve(loops.of(Array.from({ length: clients }, client)));
  };
}

/** One request on a connection of its own that stays open, idle behind it. */
export function http2Idle(): (place: Place) => Promise<Clients> {
  return async (place) => {
    const session = open(place, true);
    const { failure } = await askPlain(session, WORK_MS, true);
    const lastMs = place.clock.nowMs();
    return {
      tally: { answered: failure === "" ? 1 : 0, failures: failure === "" ? [] : [failure] },
      lastMs: () => lastMs,
      withdraw: () => {},
      stop: () => Promise.resolve(session.destroy()),
    };
  };
}

/** One stream of messages; the client hangs up after a while, or never. A stream that ends before is a failure. */
export function grpcStream(everyMs: number, hangsUpAfterMs: number): (place: Place) => Promise<Clients> {
  return async (place) => {
    const tally = { answered: 0, failures: [] as string[] };
    let lastMs = place.clock.nowMs();
    let left = false;
    const session = open(place, true);
    const stream = grpcCall(session, `${SERVICE}/Stream`, String(everyMs));
    stream.on("error", () => {});
    stream.on("data", () => {
      tally.answered += 1;
      lastMs = place.clock.nowMs();
    });
    stream.on("close", () => {
      if (!left) tally.failures.push("the stream ended");
    });
    const leave = () => {
      if (left) return;
      left = true;
      lastMs = place.clock.nowMs();
      session.destroy();
    };
    if (Number.isFinite(hangsUpAfterMs)) void place.clock.wait(hangsUpAfterMs).then(leave);
    await new Promise((heard) => stream.once("data", heard));
    return { tally, lastMs: () => lastMs, withdraw: () => {}, stop: () => Promise.resolve(leave()) };
  };
}

type Current = { readonly to: ClientHttp2Session; readonly byPod: boolean };
type KeptSession = { readonly current: () => Current };

function keptSession(place: Place, loops: Loops): KeptSession {
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
  return toPod ? openSession(place.pod, PROXY.web, place.from) : openSession(place.other, UPSTREAM.http2, place.from);
}

function askPlain(session: ClientHttp2Session, ms: number, byPod: boolean): Promise<Asked> {
  return ended(session.request({ ":path": `/${ms}` }), byPod, ({ status }) =>
    status === 200 ? "" : `status ${status}`,
  );
}

function askGrpc(session: ClientHttp2Session, ms: number, byPod: boolean): Promise<Asked> {
  return ended(grpcCall(session, `${SERVICE}/Wait`, String(ms)), byPod, ({ status, grpcStatus, chunks }) => {
    const body = Buffer.concat(chunks);
    const whole = status === 200 && grpcStatus === "0" && readFrames(body)[0] === "done";
    return whole ? "" : `status ${status}, grpc-status ${grpcStatus}, ${body.length} bytes`;
  });
}

function ended(stream: ClientHttp2Stream, byPod: boolean, judge: (answer: Http2Answer) => string): Promise<Asked> {
  return new Promise((done) => {
    watchAnswer(stream, (answer) => {
      if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) {
        done({ failure: REFUSED, byPod });
        return;
      }
      const failure = answer.error === "" ? judge(answer) : answer.error;
      done({ failure: failure === "" || byPod ? failure : `${failure} elsewhere`, byPod });
    });
  });
}
