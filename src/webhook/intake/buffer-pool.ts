/** Pools buffers for bodies. Their sizes are powers of two. */

export type BufferPool = {
  readonly get: (bytes: number) => Buffer;
  readonly release: (buffer: Buffer) => void;
};

/** Smallest buffer. A smaller body usually arrives in one chunk, which needs no other buffer. */
const LEAST_BYTES = 16 * 1024;
export const KEPT_BUFFER_BYTES = 512 * 1024;
const KEPT_BYTES = 4 * 1024 * 1024;

export function createBufferPool(): BufferPool {
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
    release: (buffer) => {
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
