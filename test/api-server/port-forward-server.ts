/**
 * Serves port-forwards as kubelets do: a WebSocket with `v4.channel.k8s.io`, channel 0 for data and 1 for an error, whose
 * first messages contain the port in two bytes. The programs of the tests' Pods listen on this machine's loopback address.
 *
 * @see https://github.com/kubernetes/kubernetes/blob/25d732ce4efffdabe80223c196a299d2278c0080/staging/src/k8s.io/kubelet/pkg/cri/streaming/portforward/websocket.go
 */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";

const PROTOCOL = "v4.channel.k8s.io";
const DATA_CHANNEL = 0;
const ERROR_CHANNEL = 1;
const BINARY_OPCODE = 2;
const CLOSE_OPCODE = 8;

/** Accepts the WebSocket handshake and forwards to `port` on 127.0.0.1. */
export function serveForward(request: IncomingMessage, socket: Duplex, port: number): void {
  const key = request.headers["sec-websocket-key"] ?? "";
  const acceptKey = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  const offeredProtocols = (request.headers["sec-websocket-protocol"] ?? "")
    .split(",")
    .map((protocol) => protocol.trim());
  const headers = ["Upgrade: websocket", "Connection: Upgrade", `Sec-WebSocket-Accept: ${acceptKey}`];
  if (!offeredProtocols.includes(PROTOCOL)) {
    refuseUpgrade(socket, 403, "no common protocol");
    return;
  }
  headers.push(`Sec-WebSocket-Protocol: ${PROTOCOL}`);
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers.join("\r\n")}\r\n\r\n`);
  const portBytes = Buffer.from([port & 0xff, port >> 8]);
  const send = (channel: number, bytes: Buffer): unknown =>
    socket.writable && socket.write(createFrame(channel, bytes));
  send(DATA_CHANNEL, portBytes);
  send(ERROR_CHANNEL, portBytes);

  const podConnection = connect(port, "127.0.0.1");
  podConnection.on("data", (bytes: Buffer) => send(DATA_CHANNEL, bytes));
  podConnection.on("error", (error) =>
    send(ERROR_CHANNEL, Buffer.from(`error forwarding port ${port} to pod: ${error.message}`)),
  );
  podConnection.on("close", () => socket.end());
  socket.on("close", () => podConnection.destroy());
  socket.on("error", () => podConnection.destroy());
  let unreadBytes: Buffer = Buffer.alloc(0);
  socket.on("data", (bytes: Buffer) => {
    unreadBytes = Buffer.concat([unreadBytes, bytes]);
    for (let frame = readFrame(unreadBytes); frame !== undefined; frame = readFrame(unreadBytes)) {
      unreadBytes = unreadBytes.subarray(frame.length);
      if (frame.opcode === CLOSE_OPCODE) podConnection.end();
      else if (frame.opcode === BINARY_OPCODE && frame.payload[0] === DATA_CHANNEL)
        podConnection.write(frame.payload.subarray(1));
    }
  });
}

/** Rejects the upgrade as API servers do; WebSocket clients read only the status. */
export function refuseUpgrade(socket: Duplex, status: number, message: string): void {
  socket.end(`HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Length: ${message.length}\r\n\r\n${message}`);
}

function createFrame(channel: number, bytes: Buffer): Buffer {
  const length = bytes.length + 1;
  const header = Buffer.alloc(10);
  header[0] = 0x80 | BINARY_OPCODE;
  if (length < 126) {
    header[1] = length;
    return Buffer.concat([header.subarray(0, 2), Buffer.from([channel]), bytes]);
  }
  header[1] = 127;
  header.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([header, Buffer.from([channel]), bytes]);
}

type Frame = { readonly opcode: number; readonly payload: Buffer; readonly length: number };

/** Parses the first complete frame; a client masks its frames. */
function readFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < 2) return undefined;
  const lengthCode = (bytes[1] ?? 0) & 0x7f;
  const at = lengthCode === 126 ? 4 : lengthCode === 127 ? 10 : 2;
  if (bytes.length < at + 4) return undefined;
  const size =
    lengthCode === 126 ? bytes.readUInt16BE(2) : lengthCode === 127 ? Number(bytes.readBigUInt64BE(2)) : lengthCode;
  const length = at + 4 + size;
  if (bytes.length < length) return undefined;
  const mask = bytes.subarray(at, at + 4);
  const payload = Buffer.from(bytes.subarray(at + 4, length)).map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return { opcode: (bytes[0] ?? 0) & 0x0f, payload: Buffer.from(payload), length };
}
