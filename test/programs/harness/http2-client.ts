/** What clients of HTTP/2 and gRPC are made of: a session, a call, and how a stream ended. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { connect as connectSocket } from "node:net";
import { frame } from "./grpc-frame.ts";

/** @param localAddress the clients' own address, which is not the kubelet's */
export function openSession(host: string, port: number, localAddress: string): ClientHttp2Session {
  const session = connect(`http://${host}:${port}`, {
    createConnection: () => connectSocket({ host, port, localAddress, noDelay: true }),
  });
  // Each stream reports what it loses.
  session.on("error", () => {});
  return session;
}

/** A call with one message; framing and trailers are gRPC's, the rest of a gRPC library is not here. */
export function grpcCall(session: ClientHttp2Session, path: string, message: string): ClientHttp2Stream {
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.end(frame(message));
  return stream;
}

export type Http2Answer = {
  status: number;
  grpcStatus: string;
  readonly chunks: Buffer[];
  /** The server has ended the stream. */
  whole: boolean;
  /** Its HEADERS could not be sent: no server ever sees the request. */
  unsent: boolean;
  /** Empty where the stream had none. */
  error: string;
};

const HEADERS_FRAME = 1;

/** @param over called once, when the stream is closed */
export function watchAnswer(stream: ClientHttp2Stream, over: (answer: Http2Answer) => void): void {
  const answer: Http2Answer = { status: 0, grpcStatus: "", chunks: [], whole: false, unsent: false, error: "" };
  stream.on("response", (headers) => {
    answer.status = Number(headers[":status"]);
    // A call that fails at once says so in its headers.
    answer.grpcStatus = String(headers["grpc-status"] ?? "");
  });
  stream.on("trailers", (trailers) => {
    answer.grpcStatus = String(trailers["grpc-status"] ?? "");
  });
  stream.on("data", (chunk: Buffer) => answer.chunks.push(chunk));
  stream.once("end", () => {
    answer.whole = true;
  });
  stream.on("frameError", (type: number) => {
    if (type === HEADERS_FRAME) answer.unsent = true;
  });
  stream.on("error", (cause: Error) => {
    answer.error = cause.message;
  });
  stream.once("close", () => over(answer));
}
