/** Opens HTTP/2 sessions, makes gRPC calls and records how a stream ended. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { connect as connectSocket } from "node:net";
import { frame } from "./grpc-frame.ts";

/** @param localAddress source address of the clients, which differs from the kubelet's */
export function openSession(host: string, port: number, localAddress: string): ClientHttp2Session {
  const session = connect(`http://${host}:${port}`, {
    createConnection: () => connectSocket({ host, port, localAddress, noDelay: true }),
  });
  session.on("error", () => {});
  return session;
}

/** Makes a call with one message in gRPC's wire format, without a gRPC library. */
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
  complete: boolean;
  /** HEADERS could not be sent, so no server received the request. */
  unsent: boolean;
  error: string;
};

const HEADERS_FRAME = 1;

export function watchAnswer(stream: ClientHttp2Stream, closed: (answer: Http2Answer) => void): void {
  const answer: Http2Answer = { status: 0, grpcStatus: "", chunks: [], complete: false, unsent: false, error: "" };
  stream.on("response", (headers) => {
    answer.status = Number(headers[":status"]);
    // A trailers-only response carries the status in its headers.
    answer.grpcStatus = String(headers["grpc-status"] ?? "");
  });
  stream.on("trailers", (trailers) => {
    answer.grpcStatus = String(trailers["grpc-status"] ?? "");
  });
  stream.on("data", (chunk: Buffer) => answer.chunks.push(chunk));
  stream.once("end", () => {
    answer.complete = true;
  });
  stream.on("frameError", (type: number) => {
    if (type === HEADERS_FRAME) answer.unsent = true;
  });
  stream.on("error", (cause: Error) => {
    answer.error = cause.message;
  });
  stream.once("close", () => closed(answer));
}
