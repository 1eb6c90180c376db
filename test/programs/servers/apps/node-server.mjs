// Responds to every path; to /slow?ms=N after N milliseconds. Stops on SIGTERM as Node documents it.
import { createServer } from "node:http";

const server = createServer((req, res) => {
  const url = new URL(req.url, "http://server");
  const ms = url.pathname === "/slow" ? Number(url.searchParams.get("ms")) : 0;
  setTimeout(() => res.end("hello\n"), ms);
});
server.keepAliveTimeout = 75_000;
server.listen(8080);
process.once("SIGTERM", () => server.close());
