/** What the HTTP and TLS layers gave up on: counted, and answered in one line where HTTP is spoken. */
import type { Socket } from "node:net";
import type { Refusal, Refuse } from "./refusals.ts";

type Broken = Error & { readonly code?: string };
type Kind = { readonly reason: Refusal; readonly line?: string };

/** Node tells failed handshakes here too. */
export function answerBrokenRequest(error: Broken, socket: Socket, refuse: Refuse): void {
  const kind = kindOf(error.code ?? "");
  // The parser complains again about what came after it was told to stop.
  if (kind?.line !== undefined && socket.destroyed) return;
  if (kind !== undefined) refuse(kind.reason);
  if (kind?.line !== undefined && socket.writable) {
    socket.write(`HTTP/1.1 ${kind.line}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  }
  socket.destroy(error);
}

/** `undefined` when its client left or the network failed, which is no refusal. */
function kindOf(code: string): Kind | undefined {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return { reason: "slow_head", line: "408 Request Timeout" };
  if (code === "HPE_HEADER_OVERFLOW") return { reason: "large_head", line: "431 Request Header Fields Too Large" };
  if (code.startsWith("HPE_")) return { reason: "not_http", line: "400 Bad Request" };
  if (code === "ERR_TLS_HANDSHAKE_TIMEOUT") return { reason: "slow_handshake" };
  if (code.startsWith("ERR_SSL_")) return { reason: "no_handshake" };
  return undefined;
}
