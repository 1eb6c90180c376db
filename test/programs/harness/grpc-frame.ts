/** gRPC's framing of messages: a byte that says "not compressed", four of length, the message. Pure. */

const HEAD_BYTES = 5;

export function frame(message: string): Buffer {
  const body = Buffer.from(message);
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** The whole messages in what has come; the rest is not there yet. */
export function readFrames(bytes: Buffer): readonly string[] {
  const messages: string[] = [];
  let at = 0;
  while (at + HEAD_BYTES <= bytes.length) {
    const end = at + HEAD_BYTES + bytes.readUInt32BE(at + 1);
    if (end > bytes.length) break;
    messages.push(bytes.toString("utf8", at + HEAD_BYTES, end));
    at = end;
  }
  return messages;
}

/** Whether these bytes are exactly one uncompressed message. */
export function isWholeMessage(bytes: Uint8Array): boolean {
  if (bytes.length < HEAD_BYTES || bytes[0] !== 0) return false;
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(1) === bytes.length - HEAD_BYTES;
}
