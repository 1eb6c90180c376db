/** Buffers for bodies, in sizes that are powers of two; those that come back are given out again instead of becoming garbage. */

export type BufferStore = {
  /** At least so many bytes, with whatever was in them. */
  readonly get: (bytes: number) => Buffer;
  /** It is not used any more. */
  readonly giveBack: (buffer: Buffer) => void;
};

/** A body of less is usually one piece of the network, which needs no buffer. */
const LEAST_BYTES = 16 * 1024;
/** Larger ones are so rare that keeping theirs would cost more than it saves. */
export const KEPT_BUFFER_BYTES = 512 * 1024;
/** Kept in all for the next bodies. */
const KEPT_BYTES = 4 * 1024 * 1024;

export function bufferStore(): BufferStore {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  return {
    get: (bytes) => {
      const size = sizeFor(bytes);
      const index = kept.findLastIndex((buffer) => buffer.length === size);
      const [found] = index < 0 ? [] : kept.splice(index, 1);
      if (found === undefined) return Buffer.allocUnsafeSlow(size);
      keptBytes -= size;
      return found;
    },
    giveBack: (buffer) => {
      if (buffer.length > KEPT_BUFFER_BYTES || buffer.length !== sizeFor(buffer.length)) return;
      if (keptBytes + buffer.length > KEPT_BYTES) return;
      keptBytes += buffer.length;
      kept.push(buffer);
    },
  };
}

function sizeFor(bytes: number): number {
  let size = LEAST_BYTES;
  while (size < bytes) size *= 2;
  return size;
}
