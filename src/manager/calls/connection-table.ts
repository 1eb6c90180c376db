/** Who is connected to the manager. Keeps strangers from crowding out the kubelet; holds no request itself. */
import type { Socket } from "node:net";
import type { NowMs } from "../ports.ts";

export type ConnectionTable = {
  /** Takes a new connection in; at the cap the oldest one without a valid request goes. Newcomers are never refused. */
  readonly admit: (socket: Socket) => void;
  /** A valid request came: this connection may stay as long as it likes. */
  readonly keep: (socket: Socket) => void;
  /** It has been answered: it has a moment to leave by itself. */
  readonly dismiss: (socket: Socket) => void;
  /** Connections accepted since the start; a running total. */
  readonly accepted: () => number;
};

const CAPACITY = 256;
/** The kubelet sends its request with the handshake; whoever takes longer is not the kubelet. */
const PATIENCE_MS = 2_000;
/** Runtimes read what has come between two timers. */
const ONE_TURN_MS = 1;

type Guest = { readonly id: number; readonly socket: Socket; readonly kept: boolean; readonly sinceMs: number };

export function createConnectionTable(nowMs: NowMs): ConnectionTable {
  let guests: Guest[] = [];
  let accepted = 0;
  let timer: NodeJS.Timeout | null = null;

  const drop = (id: number): void => {
    guests = guests.filter((guest) => guest.id !== id);
  };
  const change = (socket: Socket, kept: boolean): void => {
    guests = guests.map((guest) =>
      guest.socket === socket ? { id: guest.id, socket: guest.socket, kept, sinceMs: nowMs() } : guest,
    );
  };
  const oldestStranger = (): Guest | undefined => {
    let oldest: Guest | undefined;
    for (const guest of guests) {
      if (!guest.kept && (oldest === undefined || guest.sinceMs < oldest.sinceMs)) oldest = guest;
    }
    return oldest;
  };
  // After a stall the timer comes before the bytes that waited: whoever has spoken by then is heard first.
  const hearThenSweep = (): void => {
    timer = setTimeout(sweep, ONE_TURN_MS);
  };
  const sweep = (): void => {
    timer = null;
    const now = nowMs();
    const overdue = guests.filter((guest) => !guest.kept && now - guest.sinceMs >= PATIENCE_MS);
    for (const guest of overdue) {
      drop(guest.id);
      guest.socket.destroy();
    }
    plan();
  };
  // One timer for all, and none while nobody unknown is connected: an idle manager sleeps.
  const plan = (): void => {
    const oldest = oldestStranger();
    if (timer !== null || oldest === undefined) return;
    timer = setTimeout(hearThenSweep, Math.max(1, Math.ceil(oldest.sinceMs + PATIENCE_MS - nowMs())));
  };

  return {
    admit: (socket) => {
      accepted = accepted + 1;
      const id = accepted;
      socket.on("close", () => drop(id));
      // Without a listener a reset by the peer would end the program.
      socket.on("error", () => drop(id));
      if (guests.length >= CAPACITY) {
        const oldest = oldestStranger();
        if (oldest !== undefined) {
          drop(oldest.id);
          oldest.socket.destroy();
        }
      }
      guests.push({ id, socket, kept: false, sinceMs: nowMs() });
      plan();
    },
    keep: (socket) => change(socket, true),
    dismiss: (socket) => {
      change(socket, false);
      plan();
    },
    accepted: () => accepted,
  };
}
