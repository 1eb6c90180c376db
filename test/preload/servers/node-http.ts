/** An unmodified app on Node: whole answers, events, and a tunnel whose bytes look like HTTP. */
import { createServer } from "node:http";

const [address, port] = process.argv.slice(2);
const LOOKS_LIKE_AN_ANSWER = "HTTP/1.1 200 OK\r\n\r\n";
const EVENTS = 3;

const server = createServer((request, response) => {
  response.sendDate = false;
  if (request.url !== "/events") {
    request.resume().on("end", () => response.end(LOOKS_LIKE_AN_ANSWER));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  let sent = 0;
  // An event for each round of the loop, so that they are writes of their own.
  const next = (): void => {
    sent += 1;
    response.write(`data: ${sent}\n\n`);
    if (sent === EVENTS) response.end();
    else setImmediate(next);
  };
  next();
});
server.on("upgrade", (_request, socket) => {
  socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
  socket.on("data", () => socket.write(LOOKS_LIKE_AN_ANSWER));
  socket.on("error", () => socket.destroy());
});
server.keepAliveTimeout = 0;
server.listen(Number(port), address);
