/** Implements the port guard on Node with koffi. */
import { createRequire } from "node:module";
import type { Server, Socket } from "node:net";
import { beginsWithToken } from "./calls/port-guard.ts";
import type { PortGuard } from "./ports.ts";

const IPPROTO_TCP = 6;
const TCP_DEFER_ACCEPT = 9;
const AF_INET = 2;
const SOCK_STREAM_CLOEXEC = 1 + 0x80000;
const MSG_PEEK_DONTWAIT = 0x02 + 0x40;
/** Equal to the values of the native build in `native/runtime.patch`. */
const DEFER_ACCEPT_SECONDS = 120;
const BACKLOG = 4_096;
/** More than the length of the method and the longest token. */
const FIRST_BYTES_LIMIT = 512;

export function loadNodePortGuard(): PortGuard {
  try {
    return bindGuard();
  } catch {
    return NO_GUARD;
  }
}

function bindGuard(): PortGuard {
  // `require`, because a failing static import cannot be caught.
  const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
  const library = koffi.load(null);
  const socket = library.func("int socket(int domain, int type, int protocol)");
  const close = library.func("int close(int fd)");
  const listen = library.func("int listen(int fd, int backlog)");
  const setNumber = library.func("int setsockopt(int fd, int level, int name, int *value, uint32_t length)");
  const receive = library.func("intptr_t recv(int fd, void *bytes, size_t length, int flags)");
  const firstBytes = new Uint8Array(FIRST_BYTES_LIMIT);
  let path = "";

  const deferAccept = (fd: number): boolean =>
    Number(setNumber(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, [DEFER_ACCEPT_SECONDS], 4)) === 0;
  return {
    prepare: (requestPrefix) => {
      const probeFd = Number(socket(AF_INET, SOCK_STREAM_CLOEXEC, 0));
      const isSupported = deferAccept(probeFd);
      close(probeFd);
      path = isSupported ? requestPrefix : "";
      return isSupported;
    },
    attach: (server) => {
      const fd = descriptorOf(server);
      // A second listen() only changes the backlog. The native compiler does not support Node's `backlog` option.
      if (path !== "" && fd >= 0 && deferAccept(fd)) listen(fd, BACKLOG);
    },
    admits: (accepted) => {
      const fd = descriptorOf(accepted);
      if (path === "" || fd < 0) return true;
      const length = Number(receive(fd, firstBytes, FIRST_BYTES_LIMIT, MSG_PEEK_DONTWAIT));
      // A connection without bytes is admitted here; the connection table closes it after a timeout.
      return length < 0 || beginsWithToken(firstBytes.subarray(0, length), path);
    },
    closedCount: () => 0,
  };
}

/** Reads the descriptor from a private field of Node. @returns -1 if Node does not have this field; the port is then not guarded */
export function descriptorOf(serverOrSocket: Server | Socket): number {
  const { _handle: handle } = serverOrSocket as { _handle?: { fd?: unknown } | null };
  return typeof handle?.fd === "number" ? handle.fd : -1;
}

const NO_GUARD: PortGuard = { prepare: () => false, attach: () => {}, admits: () => true, closedCount: () => 0 };
