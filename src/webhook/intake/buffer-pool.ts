/** Pools buffers for bodies. Their sizes are powers of two. */

export type BufferPool = {
  readonly get: (bytes: number) => Buffer;
  readonly release: (buffer: Buffer) => void;
};

/** Smallest buffer. A smaller body usually arrives in one chunk, which is not copied to another buffer. */
const MIN_BUFFER_BYTES = 16 * 1024;
export const POOLED_BUFFER_LIMIT_BYTES = 512 * 1024;
const POOL_LIMIT_BYTES = 4 * 1024 * 1024;

export function createBufferPool(): BufferPool {
  const pooledBuffers: Buffer[] = [];
  let pooledBytes = 0;
  return {
    get: (bytes) => {
      const size = sizeFor(bytes);
      const index = pooledBuffers.findLastIndex((buffer) => buffer.length === size);
      const [buffer] = index < 0 ? [] : pooledBuffers.splice(index, 1);
      if (buffer === undefined) return Buffer.allocUnsafeSlow(size);
      pooledBytes -= size;
      return buffer;
    },
    release: (buffer) => {
      if (buffer.length > POOLED_BUFFER_LIMIT_BYTES || buffer.length !== sizeFor(buffer.length)) return;
      if (pooledBytes + buffer.length > POOL_LIMIT_BYTES) return;
      pooledBytes += buffer.length;
      pooledBuffers.push(buffer);
    },
  };
}

function sizeFor(bytes: number): number {
  let size = MIN_BUFFER_BYTES;
  while (size < bytes) size *= 2;
  return size;
}
