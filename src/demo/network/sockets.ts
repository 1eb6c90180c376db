/** Socket helpers of the demo's servers and clients. */
import { once } from "node:events";
import { connect, type Server, type TcpNetConnectOpts } from "node:net";
import { Fault } from "../../fault.ts";

/** In the larger loads more clients connect at once than Node's default backlog of 511. */
const BACKLOG = 1_024;

/** @throws Fault ERR_DEMO_FAILED when the port is in use */
export async function listen(server: Server, host: string, port = 0): Promise<number> {
  const listening = once(server, "listening");
  server.listen({ host, port, backlog: BACKLOG });
  await listening.catch((cause: unknown) => {
    throw new Fault("ERR_DEMO_FAILED", `cannot listen on ${host}:${port}`, cause);
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

/** Resolves when the last connection is closed. Idempotent. */
export async function closeServer(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}

export async function accepts(target: TcpNetConnectOpts, signal?: AbortSignal): Promise<boolean> {
  const socket = connect(target);
  const isAccepted = await once(socket, "connect", { signal }).then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isAccepted;
}

export function isRefusal(error: Error): boolean {
  return "code" in error && (error.code === "ECONNREFUSED" || error.code === "EHOSTUNREACH");
}
