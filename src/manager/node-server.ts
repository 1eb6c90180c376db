/** Makes Node's HTTP server respond like the native runtime's, where defaults differ. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

const BAD_REQUEST = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/** @param server listening, without connections */
export function answerLikeNative(server: Server): void {
  // An expectation is ignored, as RFC 9110 allows (10.1.1). Node sends 100 or 417 by itself where these events have no listener.
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.on("clientError", (error: Error, socket: Socket) => {
    if (socket.bytesWritten > 0 && !socket.destroyed) {
      // The bytes after a request that is answered already are not a request.
      endUnread(socket);
      return;
    }
    if (socket.writable) socket.write(BAD_REQUEST);
    socket.destroy(error);
  });
  server.on("connection", (socket: Socket) => {
    socket.destroySoon = () => endUnread(socket);
  });
}

/**
 * Node calls `destroySoon` after its last answer. That resets the connection where a body is still arriving, and the client
 * can lose the answer (RFC 9112, 9.6). The connection table destroys the socket if the client does not close it.
 */
function endUnread(socket: Socket): void {
  // The parser would hand on further requests, and answer 400 to an unfinished body.
  socket.removeAllListeners("data");
  socket.removeAllListeners("end");
  // A listener makes Node's parser let go of the connection; see `unconsume` in Node's lib/_http_server.js.
  socket.on("data", () => {});
  socket.end();
  socket.resume();
}
