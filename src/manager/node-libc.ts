/** The C library under Node, by way of koffi. The only file that knows koffi. */
import type { Libc } from "./ports.ts";

/** @returns bindings with `available: false` when koffi or the library cannot be loaded. */
export function loadNodeLibc(): Libc {
  return {
    available: false,
    socket: () => -1,
    send: () => -1,
    recv: () => -1,
    connect: () => -1,
    setsockopt: () => -1,
    close: () => -1,
  };
}
