/** Who is connected to the manager. Keeps strangers from crowding out the kubelet; holds no request itself. */
import type { Socket } from "node:net";
import type { NowMs } from "../ports.ts";
import { isLoopbackAddress } from "../sockets/address-text.ts";

type ConnectionTable = {
  /** Takes a new connection in; beyond the capacity strangers go once they could be heard. Newcomers are never refused. */
  readonly admit: (socket: Socket, address: string) => void;
  /** A valid request came: this connection may stay as long as it likes. */
  readonly keep: (socket: Socket) => void;
  /** It has been answered: it has a moment to leave by itself. */
  readonly dismiss: (socket: Socket) => void;
  /** Connections accepted since the start; a running total. */
  readonly accepted: () => number;
};

const CAPACITY = 256;
/** Until they could be heard: as many more as a runtime accepts in one go, which is at most what waits in Node's backlog. */
const HARD_CAPACITY = CAPACITY + 511;
/** The kubelet sends its request with the handshake; a caller that takes longer is not the kubelet. */
const PATIENCE_MS = 2_000;
/** Runtimes read what has come between two timers. */
const ONE_TURN_MS = 1;
/** A node has few addresses. */
const KNOWN_ADDRESSES_LIMIT = 8;

type Guest = {
  readonly id: number;
  readonly socket: Socket;
  readonly address: string;
  readonly kept: boolean;
  readonly sinceMs: number;
};

export function createConnectionTable(nowMs: NowMs): ConnectionTable {
  let guests: Guest[] = [];
  let accepted = 0;
  let timer: NodeJS.Timeout | null = null;
  let hurried = false;
  /** Addresses from which a valid request came. */
  const known = new Set<string>();

  const drop = (id: number): void => {
    guests = guests.filter((guest) => guest.id !== id);
  };
  const change = (socket: Socket, kept: boolean): void => {
    guests = guests.map((guest) => {
      if (guest.socket !== socket) return guest;
      if (kept && known.size < KNOWN_ADDRESSES_LIMIT) known.add(guest.address);
      return { id: guest.id, socket: guest.socket, address: guest.address, kept, sinceMs: nowMs() };
    });
  };
  const isFavoured = (address: string): boolean => isLoopbackAddress(address) || known.has(address);
  const trimTo = (capacity: number): void => {
    if (guests.length <= capacity) return;
    const strangers = guests.filter((guest) => !guest.kept);
    const leaving = whoGoesFirst(strangers, guests.length - capacity, isFavoured);
    for (const id of leaving) {
      const guest = guests.find((one) => one.id === id);
      drop(id);
      if (guest !== undefined) guest.socket.destroy();
    }
  };
  // After a stall the timer comes before the bytes that waited: callers that have spoken by then are heard first.
  const hearThenSweep = (): void => {
    timer = setTimeout(sweep, ONE_TURN_MS);
  };
  const sweep = (): void => {
    timer = null;
    hurried = false;
    const now = nowMs();
    const overdue = guests.filter((guest) => !guest.kept && now - guest.sinceMs >= PATIENCE_MS);
    for (const guest of overdue) {
      drop(guest.id);
      guest.socket.destroy();
    }
    trimTo(CAPACITY);
    plan();
  };
  // One timer for all, and none while no unknown caller is connected: an idle manager sleeps.
  const plan = (): void => {
    if (timer !== null) return;
    let sinceMs = -1;
    for (const guest of guests) if (!guest.kept && (sinceMs < 0 || guest.sinceMs < sinceMs)) sinceMs = guest.sinceMs;
    if (sinceMs < 0) return;
    timer = setTimeout(hearThenSweep, Math.max(1, Math.ceil(sinceMs + PATIENCE_MS - nowMs())));
  };
  const hurry = (): void => {
    if (hurried) return;
    hurried = true;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(hearThenSweep, ONE_TURN_MS);
  };

  return {
    admit: (socket, address) => {
      accepted = accepted + 1;
      const id = accepted;
      socket.on("close", () => drop(id));
      // Without a listener a reset by the peer would end the program.
      socket.on("error", () => drop(id));
      trimTo(HARD_CAPACITY - 1);
      guests.push({ id, socket, address, kept: false, sinceMs: nowMs() });
      if (guests.length > CAPACITY) hurry();
      else plan();
    },
    keep: (socket) => change(socket, true),
    dismiss: (socket) => {
      change(socket, false);
      plan();
    },
    accepted: () => accepted,
  };
}

/** Which strangers leave where there are too many. Pure. */
type Stranger = { readonly id: number; readonly address: string; readonly sinceMs: number };

type Ranked = {
  readonly id: number;
  readonly sinceMs: number;
  readonly favoured: boolean;
  /** How many newer ones its address has. */
  readonly newer: number;
};

/**
 * The addresses that have most connections give them first, the oldest of theirs; favoured ones only when no other is
 * left.
 *
 * @returns at most `count` ids
 */
export function whoGoesFirst(
  strangers: readonly Stranger[],
  count: number,
  isFavoured: (address: string) => boolean,
): readonly number[] {
  const seen = new Map<string, number>();
  const ranked: Ranked[] = [];
  for (const { id, address, sinceMs } of [...strangers].sort(newestFirst)) {
    const newer = seen.get(address) ?? 0;
    seen.set(address, newer + 1);
    ranked.push({ id, sinceMs, favoured: isFavoured(address), newer });
  }
  ranked.sort(compareLeaving);
  return ranked.slice(0, count).map((one) => one.id);
}

function newestFirst(one: Stranger, other: Stranger): number {
  return one.sinceMs === other.sinceMs ? other.id - one.id : other.sinceMs - one.sinceMs;
}

function compareLeaving(one: Ranked, other: Ranked): number {
  if (one.favoured !== other.favoured) return one.favoured ? 1 : -1;
  if (one.newer !== other.newer) return other.newer - one.newer;
  return one.sinceMs === other.sinceMs ? one.id - other.id : one.sinceMs - other.sinceMs;
}
