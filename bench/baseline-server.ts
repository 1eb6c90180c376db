/** Serves as the baseline of the webhook benchmarks: parses the body and responds with 200 bytes. */
import { readFileSync } from "node:fs";
import { createServer } from "node:https";

const [certFile = "", keyFile = ""] = process.argv.slice(2);
const responseBody = `{"answer":"${"x".repeat(187)}"}`;

const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    JSON.parse(Buffer.concat(chunks).toString("utf8"));
    response.writeHead(200, { "content-type": "application/json", "content-length": responseBody.length });
    response.end(responseBody);
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  process.stdout.write(`${JSON.stringify({ port, msg: "listening" })}\n`);
});
