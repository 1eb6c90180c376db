/** Stops accepting connections on demand: `node drain-slow-acceptor.ts ADDRESS`; each line of stdin has the milliseconds of one stop. */
import { writeSync } from "node:fs";
import { createServer } from "node:http";
import { createInterface } from "node:readline";

const server = createServer((_, res) => {
  res.setHeader("connection", "close").end("late");
});
server.listen(0, process.argv[2], () => {
  const address = server.address();
  writeSync(1, `${typeof address === "object" && address !== null ? address.port : 0}\n`);
});
createInterface({ input: process.stdin }).on("line", (line) => {
  writeSync(1, "busy\n");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(line));
});
