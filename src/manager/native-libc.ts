/** Bindings of libc in the native build (`native/libc.json`). Does not run on Node. */
import type { FlagPage, Libc, PortGuard } from "./ports.ts";

declare function cSocket(domain: number, type: number, protocol: number): number;
declare function cSend(fd: number, bytes: Uint8Array, flags: number): number;
declare function cRecv(fd: number, bytes: Uint8Array, flags: number): number;
declare function cConnect(fd: number, address: Uint8Array): number;
declare function cSetsockopt(fd: number, level: number, name: number, value: Uint8Array): number;
declare function cClose(fd: number): number;
declare function cGuardPort(path: Uint8Array): number;
declare function cUnauthenticatedClosed(): number;
declare function cUnmapStart(): number;
declare function cFlagOpen(socket: Uint8Array): number;
declare function cFlagClose(ports: Uint8Array): number;
declare function cFlagGiven(): number;
declare function cFlagMissed(): number;

export const nativeLibc: Libc = {
  available: true,
  socket: (domain, type, protocol) => cSocket(domain, type, protocol),
  send: (fd, bytes, flags) => cSend(fd, bytes, flags),
  recv: (fd, bytes, flags) => cRecv(fd, bytes, flags),
  connect: (fd, address) => cConnect(fd, address),
  setsockopt: (fd, level, name, value) => cSetsockopt(fd, level, name, value),
  close: (fd) => cClose(fd),
};

/** The native runtime checks the first bytes of connections itself (`native/runtime.patch`). */
export const nativePortGuard: PortGuard = {
  prepare: (path) => cGuardPort(Buffer.from(path)) === 0,
  attach: () => {},
  admits: () => true,
  closedCount: () => cUnauthenticatedClosed(),
};

/** The native runtime serves the shared memory page itself (`native/runtime.patch`). */
export const nativeFlagPage: FlagPage = {
  open: (socket) => cFlagOpen(Buffer.from(socket)),
  signalDrain: (ports) => {
    cFlagClose(Buffer.from(ports.join(",")));
  },
  deliveredCount: () => cFlagGiven(),
  undeliveredCount: () => cFlagMissed(),
};

/** Unmaps the code and the stack that only the start needs (most of an idle manager's memory) before the event loop waits again. */
export function unmapStartupCode(): void {
  cUnmapStart();
}
