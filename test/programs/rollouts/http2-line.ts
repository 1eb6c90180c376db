/**
 * A connection under a Node HTTP/2 session that can say one thing which Node cannot: a GOAWAY that refuses nothing.
 *
 * Node's own goes out through `nghttp2_submit_goaway`, and after that the library ignores every new stream, whatever the
 * frame said; requests already on their way would be lost. This one is written between two writes of the session.
 *
 * @see https://nghttp2.org/documentation/nghttp2_submit_shutdown_notice.html
 */
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

export type Http2Line = {
  readonly duplex: Duplex;
  /** "Open no more streams here"; all that come all the same are answered. */
  readonly announceEnd: () => void;
};

/** 8 bytes of type GOAWAY on stream 0: the last stream is 2^31 - 1, the code 0. */
const SHUTDOWN_NOTICE = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);

export function createHttp2Line(socket: Socket): Http2Line {
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
    announceEnd: () => {
      if (socket.writable) socket.write(SHUTDOWN_NOTICE);
    },
  };
}
