// Responds to every path; to /slow?ms=N after N milliseconds. Stops on SIGTERM as Fastify documents it.
import { fastify } from "fastify";

const app = fastify({ keepAliveTimeout: 75_000 });
app.get("/slow", async (request) => {
  await new Promise((done) => setTimeout(done, Number(request.query.ms)));
  return "hello\n";
});
app.get("/*", async () => "hello\n");
await app.listen({ host: "0.0.0.0", port: 8080 });
process.once("SIGTERM", () => app.close());
