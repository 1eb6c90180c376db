/** A fake Job of the examples: it answers on port 8080 while it works, and completes after a few seconds. */
import { createServer } from "node:http";

const WORK_MS = 8_000;

const server = createServer((request, response) => {
  const ms = Number(new URL(request.url ?? "/", "http://work").searchParams.get("ms") ?? "5");
  setTimeout(() => response.end("hello\n"), ms);
});
server.listen(8080, "::");
setTimeout(() => process.exit(0), WORK_MS);
process.once("SIGTERM", () => process.exit(143));
