/** Starts two apps on one address: one with a client whose bytes the app never reads, and one without clients. */
import { connect, createServer, type Server, type Socket } from "node:net";

export type SoakPod = { readonly busyPort: number; readonly quietPort: number; readonly close: () => void };

export async function openSoakPod(address: string): Promise<SoakPod> {
  const busySockets: Socket[] = [];
  const busyServer = await listen(address, (socket) => busySockets.push(socket));
  const quietServer = await listen(address, (socket) => socket.destroy());
  const client = connect({ host: address, port: portOf(busyServer), localAddress: "127.0.0.1" });
  await new Promise<void>((resolve, reject) => {
    client.on("error", reject);
    client.on("connect", () => {
      client.write("a request that stays unread");
      resolve();
    });
  });
  return {
    busyPort: portOf(busyServer),
    quietPort: portOf(quietServer),
    close: () => {
      for (const socket of [client, ...busySockets]) socket.destroy();
      busyServer.close();
      quietServer.close();
    },
  };
}

function listen(address: string, onSocket: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on("error", () => {});
    onSocket(socket);
  });
  return new Promise((resolve) => server.listen(0, address, () => resolve(server)));
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
