/** Accepts requests and never responds: `node manager-app.ts PORT`. Prints the number of requests after each request. */
import { writeSync } from "node:fs";
import { createServer } from "node:net";

const BACKLOG = 1_024;

let requests = 0;
const server = createServer((socket) => {
  socket.on("error", () => {});
  socket.once("data", () => {
    requests += 1;
    writeSync(1, `served ${requests}\n`);
  });
});
server.listen(Number(process.argv[2]), "0.0.0.0", BACKLOG, () => writeSync(1, "ready\n"));
