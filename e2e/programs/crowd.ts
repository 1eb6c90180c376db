/** Connections that misbehave in one manner: a bounded number at once and a second, opened again when they are closed. */
import type { Socket } from "node:net";

export type Manner = {
  readonly name: string;
  /** At most so many at once, and so many begun in a second. */
  readonly atOnce: number;
  readonly perSecond: number;
  /** What it does once it is connected. */
  readonly misbehave: (socket: Socket) => void;
  /** It leaves by itself after this; else it stays for as long as it may. */
  readonly leavesAfterMs?: number;
};

export type CrowdCounts = {
  readonly begun: number;
  readonly connected: number;
  /** Connections that were given at least one byte back. */
  readonly answered: number;
  /** Ended by the other side, in whatever way, after they were connected. */
  readonly thrownOut: number;
};

export type Crowd = { readonly counts: () => CrowdCounts; readonly end: () => void };

/** A crowd begins what its rate allows this often; a connection that was thrown out is back as soon. */
const TURN_MS = 20;

/** @param dial opens one connection; `ready` names the event after which it can be written to */
export function startCrowd(manner: Manner, dial: () => { readonly socket: Socket; readonly ready: string }): Crowd {
  const counts = { begun: 0, connected: 0, answered: 0, thrownOut: 0 };
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
    counts.begun += 1;
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
      if (isConnected && !leaves) counts.thrownOut += 1;
    });
  }
}
