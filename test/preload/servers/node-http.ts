/** A Node server with plain responses, an event stream, and an upgraded connection that carries bytes like those of HTTP. */
import { createServer } from "node:http";

const [address, port] = process.argv.slice(2);
const RESPONSE_AS_BODY = "HTTP/1.1 200 OK\r\n\r\n";
const EVENTS = 3;

const server = createServer((request, response) => {
  response.sendDate = false;
  if (request.url !== "/events") {
    request.resume().on("end", () => response.end(RESPONSE_AS_BODY));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  let sentCount = 0;
  // One event per turn of the event loop, so each event is a separate write.
  const writeNext = (): void => {
    sentCount += 1;
    response.write(`data: ${sentCount}\n\n`);
    if (sentCount === EVENTS) response.end();
    else setImmediate(writeNext);
  };
  writeNext();
});
server.on("upgrade", (_request, socket) => {
  socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
  socket.on("data", () => socket.write(RESPONSE_AS_BODY));
  socket.on("error", () => socket.destroy());
});
server.keepAliveTimeout = 0;
server.listen(Number(port), address);
