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
/** As in the native build; see `native/runtime.patch`. */
const SILENCE_SECONDS = 120;
const BACKLOG = 4_096;
/** More than the method and the longest token. */
const BEGINNING_BYTES = 512;

export function loadNodePortGuard(): PortGuard {
  try {
    return bindGuard();
  } catch {
    return NO_GUARD;
  }
}

function bindGuard(): PortGuard {
  // Required rather than imported, as in node-libc.ts.
  const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
  const library = koffi.load(null);
  const socket = library.func("int socket(int domain, int type, int protocol)");
  const close = library.func("int close(int fd)");
  const listen = library.func("int listen(int fd, int backlog)");
  const setNumber = library.func("int setsockopt(int fd, int level, int name, int *value, uint32_t length)");
  const receive = library.func("intptr_t recv(int fd, void *bytes, size_t length, int flags)");
  const seen = new Uint8Array(BEGINNING_BYTES);
  let path = "";

  const wait = (fd: number): boolean =>
    Number(setNumber(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, [SILENCE_SECONDS], 4)) === 0;
  return {
    prepare: (wanted) => {
      const probe = Number(socket(AF_INET, SOCK_STREAM_CLOEXEC, 0));
      const taken = wait(probe);
      close(probe);
      path = taken ? wanted : "";
      return taken;
    },
    attach: (server) => {
      const fd = numberOf(server);
      // A second listen only changes the backlog; the native compiler has no option for it.
      if (path !== "" && fd >= 0 && wait(fd)) listen(fd, BACKLOG);
    },
    admits: (accepted) => {
      const fd = numberOf(accepted);
      if (path === "" || fd < 0) return true;
      const length = Number(receive(fd, seen, BEGINNING_BYTES, MSG_PEEK_DONTWAIT));
      // Without bytes the connection table decides.
      return length < 0 || beginsWithToken(seen.subarray(0, length), path);
    },
    closed: () => 0,
  };
}

/** The descriptor is in a private field of Node; without it the port is not guarded. */
export function numberOf(owner: Server | Socket): number {
  const { _handle: handle } = owner as { _handle?: { fd?: unknown } | null };
  return typeof handle?.fd === "number" ? handle.fd : -1;
}

const NO_GUARD: PortGuard = { prepare: () => false, attach: () => {}, admits: () => true, closed: () => 0 };
