/**
 * A connection for a Node HTTP/2 session that can send a shutdown notice, which Node cannot: a GOAWAY that refuses no stream.
 *
 * Node's GOAWAY goes through `nghttp2_submit_goaway`, after which the library ignores every new stream, whatever the frame's
 * last stream ID; requests in flight would be lost. This one is written between two writes of the session.
 *
 * @see https://nghttp2.org/documentation/nghttp2_submit_shutdown_notice.html
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

export type Http2Connection = {
  readonly duplex: Duplex;
  /** Asks the client to open no more streams; streams that still arrive are answered. */
  readonly sendShutdownNotice: () => void;
};

/** 8 bytes of type GOAWAY on stream 0: the last stream is 2^31 - 1, the code 0. */
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
