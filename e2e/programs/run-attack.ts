/** Opens misbehaving connections of one kind, at a limited number and rate, and reopens closed connections. */
import type { Socket } from "node:net";

export type Attack = {
  readonly name: string;
  /** Limits of open connections, and of new connections per second. */
  readonly maxOpen: number;
  readonly perSecond: number;
  /** Behaviour of a connected client. */
  readonly attack: (socket: Socket) => void;
  /** The client disconnects after this time; by default it stays connected until the server closes the connection. */
  readonly disconnectsAfterMs?: number;
};

export type ConnectionCounts = {
  readonly opened: number;
  readonly connected: number;
  /** Connections that received at least one byte. */
  readonly answered: number;
  /** Established connections that the server closed or reset. */
  readonly closedByServer: number;
};

export type RunningAttack = { readonly counts: () => ConnectionCounts; readonly end: () => void };

/** The interval at which new connections are opened, up to the limits of rate and number. */
const INTERVAL_MS = 20;

/** @param dial opens one connection; `ready` is the event after which it is writable */
export function startAttack(
  attack: Attack,
  dial: () => { readonly socket: Socket; readonly readyEvent: string },
): RunningAttack {
  const counts = { opened: 0, connected: 0, answered: 0, closedByServer: 0 };
  const openSockets = new Set<Socket>();
  let allowedCount = 0;
  const timer = setInterval(() => {
    allowedCount = Math.min(attack.perSecond, allowedCount + (attack.perSecond * INTERVAL_MS) / 1_000);
    for (; allowedCount >= 1 && openSockets.size < attack.maxOpen; allowedCount -= 1) openConnection();
  }, INTERVAL_MS);
  return {
    counts: () => ({ ...counts }),
    end: () => {
      clearInterval(timer);
      for (const socket of openSockets) socket.destroy();
    },
  };

  function openConnection(): void {
    const { socket, readyEvent } = dial();
    let isConnected = false;
    let isDisconnecting = false;
    let disconnectTimer: NodeJS.Timeout | undefined;
    openSockets.add(socket);
    counts.opened += 1;
    const disconnect = () => {
      isDisconnecting = true;
      socket.destroy();
    };
    socket.once(readyEvent, () => {
      isConnected = true;
      counts.connected += 1;
      if (attack.disconnectsAfterMs === 0) disconnect();
      else {
        if (attack.disconnectsAfterMs !== undefined)
          disconnectTimer = setTimeout(disconnect, attack.disconnectsAfterMs);
        attack.attack(socket);
      }
    });
    socket.once("data", () => {
      counts.answered += 1;
    });
    socket.on("error", () => {});
    socket.once("close", () => {
      clearTimeout(disconnectTimer);
      openSockets.delete(socket);
      if (isConnected && !isDisconnecting) counts.closedByServer += 1;
    });
  }
}
