/** gRPC's wire format of one message: a byte for compression, four for the length, the message. No stub, no protobuf. */

const PREFIX_BYTES = 5;

export function grpcMessage(text: string): Uint8Array {
  const body = new TextEncoder().encode(text);
  const message = new Uint8Array(PREFIX_BYTES + body.length);
  new DataView(message.buffer).setUint32(1, body.length);
  message.set(body, PREFIX_BYTES);
  return message;
}

/** Whether these bytes are exactly one uncompressed message. */
export function isWholeMessage(bytes: Uint8Array): boolean {
  if (bytes.length < PREFIX_BYTES || bytes[0] !== 0) return false;
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(1) === bytes.length - PREFIX_BYTES;
}
