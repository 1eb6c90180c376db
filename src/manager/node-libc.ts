/** Bindings of libc on Node. Only this file, node-port-guard.ts and node-flag-page.ts use koffi. */
import { createRequire } from "node:module";
import type { Libc } from "./ports.ts";

export function loadNodeLibc(): Libc {
  try {
    return bindLibc();
  } catch {
    return NO_LIBC;
  }
}

function bindLibc(): Libc {
  // `require`, because a failing static import cannot be caught.
  const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
  // `null` selects the libc that Node is linked with: glibc or musl.
  const library = koffi.load(null);
  const socket = library.func("int socket(int domain, int type, int protocol)");
  const send = library.func("intptr_t send(int fd, void *bytes, size_t length, int flags)");
  const recv = library.func("intptr_t recv(int fd, void *bytes, size_t length, int flags)");
  const connect = library.func("int connect(int fd, void *address, uint32_t length)");
  const setsockopt = library.func("int setsockopt(int fd, int level, int name, void *value, uint32_t length)");
  const close = library.func("int close(int fd)");
  return {
    available: true,
    socket: (domain, type, protocol) => Number(socket(domain, type, protocol)),
    send: (fd, bytes, flags) => Number(send(fd, bytes, bytes.length, flags)),
    recv: (fd, bytes, flags) => Number(recv(fd, bytes, bytes.length, flags)),
    connect: (fd, address) => Number(connect(fd, address, address.length)),
    setsockopt: (fd, level, name, value) => Number(setsockopt(fd, level, name, value, value.length)),
    close: (fd) => Number(close(fd)),
  };
}

const NO_LIBC: Libc = {
  available: false,
  socket: () => -1,
  send: () => -1,
  recv: () => -1,
  connect: () => -1,
  setsockopt: () => -1,
  close: () => -1,
};
