/** The C library in the native build: the compiler binds these names (`native/libc.json`). Nothing of it runs on Node. */
import type { Libc } from "./ports.ts";

declare function cSocket(domain: number, type: number, protocol: number): number;
declare function cSend(fd: number, bytes: Uint8Array, flags: number): number;
declare function cRecv(fd: number, bytes: Uint8Array, flags: number): number;
declare function cConnect(fd: number, address: Uint8Array): number;
declare function cSetsockopt(fd: number, level: number, name: number, value: Uint8Array): number;
declare function cClose(fd: number): number;

export const nativeLibc: Libc = {
  available: true,
  socket: (domain, type, protocol) => cSocket(domain, type, protocol),
  send: (fd, bytes, flags) => cSend(fd, bytes, flags),
  recv: (fd, bytes, flags) => cRecv(fd, bytes, flags),
  connect: (fd, address) => cConnect(fd, address),
  setsockopt: (fd, level, name, value) => cSetsockopt(fd, level, name, value),
  close: (fd) => cClose(fd),
};
