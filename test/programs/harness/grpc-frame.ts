/** Encodes and decodes gRPC frames: one byte for compression, four for the length, then the message. Pure. */

const HEAD_BYTES = 5;

export function encodeFrame(message: string): Buffer {
  const body = Buffer.from(message);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** @returns the complete messages, without an incomplete message at the end */
export function decodeFrames(bytes: Buffer): readonly string[] {
  const messages: string[] = [];
  let offset = 0;
  while (offset + HEAD_BYTES <= bytes.length) {
    const end = offset + HEAD_BYTES + bytes.readUInt32BE(offset + 1);
    if (end > bytes.length) break;
    messages.push(bytes.toString("utf8", offset + HEAD_BYTES, end));
    offset = end;
  }
  return messages;
}

export function isCompleteFrame(bytes: Uint8Array): boolean {
  if (bytes.length < HEAD_BYTES || bytes[0] !== 0) return false;
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(1) === bytes.length - HEAD_BYTES;
}
