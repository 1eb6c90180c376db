/**
 * Wraps the socket of a Node HTTP/2 session so that the server can send a shutdown notice: a GOAWAY that allows all streams.
 *
 * Node does not have a function that sends a shutdown notice. `session.goaway()` calls `nghttp2_submit_goaway`, after which nghttp2
 * ignores every new stream, whatever the frame's last stream ID, and requests in flight would be lost. The shutdown notice is
 * therefore written to the socket, between two writes of the session.
 *
 * @see https://nghttp2.org/documentation/nghttp2_submit_shutdown_notice.html
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

export type Http2Connection = {
  readonly duplex: Duplex;
  /** Notifies the client not to open more streams; the server still responds to streams that arrive later. */
  readonly sendShutdownNotice: () => void;
};

/** A GOAWAY frame on stream 0 with 8 bytes of payload: last stream ID 2^31 - 1, error code 0. */
const SHUTDOWN_NOTICE = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

export function createHttp2Connection(socket: Socket): Http2Connection {
  const duplex = new Duplex({
    read: () => {
      socket.resume();
    },
    write: (chunk, _encoding, done) => {
      socket.write(chunk, done);
    },
    final: (done) => {
      socket.end(done);
    },
    destroy: (error, done) => {
      socket.destroy();
      done(error);
    },
  });
  socket.on("data", (chunk) => {
    if (!duplex.push(chunk)) socket.pause();
  });
  socket.once("end", () => duplex.push(null));
  socket.once("error", () => duplex.destroy());
  socket.once("close", () => duplex.destroy());
  return {
    duplex,
    sendShutdownNotice: () => {
      if (socket.writable) socket.write(SHUTDOWN_NOTICE);
    },
  };
}
