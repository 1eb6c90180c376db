/** The admin port: recent drains as JSON for the command line and as a small page. Plain HTTP, reading only. */
import { createServer, type Server } from "node:http";
import type { DrainRing } from "../drains/drain-ring.ts";

export type AdminPorts = {
  readonly drains: Pick<DrainRing, "list" | "find">;
  /** This replica's name. */
  readonly instance: string;
};

/** Does not listen yet; see `admin-runner.ts`. */
export function adminServer(ports: AdminPorts): Server {
  return createServer((_request, response) => {
    response.end(JSON.stringify({ version: 1, instance: ports.instance, drains: ports.drains.list() }));
  });
}
