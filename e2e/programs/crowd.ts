/** Opens misbehaving connections of one kind, at a limited number and rate, and reopens closed ones. */
import type { Socket } from "node:net";

export type Manner = {
  readonly name: string;
  /** Limits of open connections, and of new ones per second. */
  readonly atOnce: number;
  readonly perSecond: number;
  /** Behaviour of a connected client. */
  readonly misbehave: (socket: Socket) => void;
  /** The client disconnects after this time; by default it stays connected until the server closes the connection. */
  readonly leavesAfterMs?: number;
};

export type CrowdCounts = {
  readonly opened: number;
  readonly connected: number;
  /** Connections that received at least one byte. */
  readonly answered: number;
  /** Established connections that the server closed or reset. */
  readonly closedByServer: number;
};

export type Crowd = { readonly counts: () => CrowdCounts; readonly end: () => void };

/** The interval at which new connections are opened, up to the limits of rate and number. */
const TURN_MS = 20;

/** @param dial opens one connection; `ready` is the event after which it is writable */
export function startCrowd(manner: Manner, dial: () => { readonly socket: Socket; readonly ready: string }): Crowd {
  const counts = { opened: 0, connected: 0, answered: 0, closedByServer: 0 };
  const open = new Set<Socket>();
  let allowed = 0;
  const turn = setInterval(() => {
    allowed = Math.min(manner.perSecond, allowed + (manner.perSecond * TURN_MS) / 1_000);
    for (; allowed >= 1 && open.size < manner.atOnce; allowed -= 1) begin();
  }, TURN_MS);
  return {
    counts: () => ({ ...counts }),
    end: () => {
      clearInterval(turn);
      for (const socket of open) socket.destroy();
    },
  };

  function begin(): void {
    const { socket, ready } = dial();
    let isConnected = false;
    let leaves = false;
    let leaving: NodeJS.Timeout | undefined;
    open.add(socket);
    counts.opened += 1;
    const leave = () => {
      leaves = true;
      socket.destroy();
    };
    socket.once(ready, () => {
      isConnected = true;
      counts.connected += 1;
      if (manner.leavesAfterMs === 0) leave();
      else {
        if (manner.leavesAfterMs !== undefined) leaving = setTimeout(leave, manner.leavesAfterMs);
        manner.misbehave(socket);
      }
    });
    socket.once("data", () => {
      counts.answered += 1;
    });
    socket.on("error", () => {});
    socket.once("close", () => {
      clearTimeout(leaving);
      open.delete(socket);
      if (isConnected && !leaves) counts.closedByServer += 1;
    });
  }
}
