/** One look at the kernel's sockets, from the best source there is. */
import type { Reading } from "./observation.ts";
import type { Libc, ReadText } from "./ports.ts";

export type SocketReader = () => Reading | undefined;

/** @returns a reader that answers `undefined` when no source gave a whole and consistent picture. */
export function createSocketReader(_libc: Libc, _readText: ReadText): SocketReader {
  return () => undefined;
}
