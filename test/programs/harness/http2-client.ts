/** Opens HTTP/2 sessions, makes gRPC calls and records how a stream ended. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { connect as connectSocket } from "node:net";
import { encodeFrame } from "./grpc-frame.ts";

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
  stream.end(encodeFrame(message));
  return stream;
}

export type Http2Response = {
  status: number;
  grpcStatus: string;
  readonly chunks: Buffer[];
  complete: boolean;
  /** HEADERS could not be sent, so no server received the request. */
  unsent: boolean;
  error: string;
};

const HEADERS_FRAME = 1;

export function collectResponse(stream: ClientHttp2Stream, onClose: (answer: Http2Response) => void): void {
  const response: Http2Response = { status: 0, grpcStatus: "", chunks: [], complete: false, unsent: false, error: "" };
  stream.on("response", (headers) => {
    response.status = Number(headers[":status"]);
    // A trailers-only response carries the status in its headers.
    response.grpcStatus = String(headers["grpc-status"] ?? "");
  });
  stream.on("trailers", (trailers) => {
    response.grpcStatus = String(trailers["grpc-status"] ?? "");
  });
  stream.on("data", (chunk: Buffer) => response.chunks.push(chunk));
  stream.once("end", () => {
    response.complete = true;
  });
  stream.on("frameError", (type: number) => {
    if (type === HEADERS_FRAME) response.unsent = true;
  });
  stream.on("error", (cause: Error) => {
    response.error = cause.message;
  });
  stream.once("close", () => onClose(response));
}
