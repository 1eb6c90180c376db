/** Changes the defaults of Node's HTTP server that differ from the native runtime's server. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

const BAD_REQUEST = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/** @param server a listening server that has not accepted a connection yet */
export function respondLikeNative(server: Server): void {
  // Ignores the Expect header, as RFC 9110, 10.1.1 allows. Without listeners for these events Node would send 100 or 417.
  server.on("checkContinue", (request, response) => server.emit("request", request, response));
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  server.on("clientError", (error: Error, socket: Socket) => {
    if (socket.bytesWritten > 0 && !socket.destroyed) {
      // The response was sent, so the client does not get status 400 for the invalid bytes after its request.
      endDiscardingInput(socket);
      return;
    }
    if (socket.writable) socket.write(BAD_REQUEST);
    socket.destroy(error);
  });
  server.on("connection", (socket: Socket) => {
    socket.destroySoon = () => endDiscardingInput(socket);
  });
}

/**
 * Replaces `destroySoon`, which Node calls after the last response. Node's version resets the connection if the request's body is
 * still arriving, and the client can lose the response (RFC 9112, 9.6). The connection table destroys sockets that stay open.
 */
function endDiscardingInput(socket: Socket): void {
  // Node's parser would emit further requests, and respond with 400 to an unfinished body.
  socket.removeAllListeners("data");
  socket.removeAllListeners("end");
  // Adding a listener detaches Node's parser from the connection; see `unconsume` in Node's lib/_http_server.js.
  socket.on("data", () => {});
  socket.end();
  socket.resume();
}
