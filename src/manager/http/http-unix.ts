/**
 * Sends one HTTP request over a Unix socket through libc, because the native runtime does not support Unix sockets. The socket is
 * non-blocking, and a timer polls it.
 */
import { accessSync } from "node:fs";
import type { Libc } from "../ports.ts";
import { readTextFile } from "../read-text.ts";
import { type HttpCall, type HttpEnd, INCOMPLETE, timeoutMessage } from "./http-client.ts";
import { createHttpResponseReader, type HttpResponseReader } from "./http-response.ts";

const AF_UNIX = 1;
/** SOCK_STREAM, SOCK_NONBLOCK, SOCK_CLOEXEC. */
const STREAM_NONBLOCK_CLOEXEC = 1 + 0x800 + 0x80000;
/** MSG_DONTWAIT, MSG_NOSIGNAL. */
const DONTWAIT_NOSIGNAL = 0x40 + 0x4000;
const READ_BYTES = 65_536;
const READS_PER_TURN = 8;
const LONGEST_PAUSE_MS = 10;

/** Implements `HttpStream`. @param call has the socket's path as host. @param done is never called synchronously */
export function streamUnix(
  libc: Libc,
  call: HttpCall,
  onChunk: (chunk: Buffer) => string,
  done: (end: HttpEnd) => void,
): void {
  const startedMs = performance.now();
  const { fd, failure } = dial(libc, call);
  if (failure !== "") {
    const timedOut = failure === BACKLOG_FULL;
    setTimeout(() => done({ status: 0, failure, timedOut }), 0);
    return;
  }
  const response = createHttpResponseReader(onChunk);
  const bytes = Buffer.alloc(READ_BYTES);
  const readLater = (pauseMs: number): void => {
    const { state, why } = readAvailable(libc, fd, bytes, response);
    const isLate = performance.now() - startedMs >= call.timeoutMs;
    if (state === "open" && !isLate) {
      const nextMs = why === NO_DATA ? Math.min(LONGEST_PAUSE_MS, pauseMs * 2) : 1;
      setTimeout(() => readLater(nextMs), nextMs);
      return;
    }
    libc.close(fd);
    if (state === "open") done({ status: 0, failure: timeoutMessage(call), timedOut: true });
    else done({ status: why === "" ? response.status() : 0, failure: why, timedOut: false });
  };
  setTimeout(() => readLater(1), 0);
}

type DialResult = { readonly fd: number; readonly failure: string };

function dial(libc: Libc, { target, method }: HttpCall): DialResult {
  const path = target.host;
  const head = `${method} ${target.path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\naccept: */*\r\n`;
  const bytes = Buffer.from(`${head}content-length: 0\r\n\r\n`);
  if (!libc.available) return { fd: -1, failure: "Unix sockets are not available" };
  const fd = libc.socket(AF_UNIX, STREAM_NONBLOCK_CLOEXEC, 0);
  if (fd < 0) return { fd, failure: "no more sockets can be opened" };
  // `connect` succeeds before the listener accepts the connection: the request waits in the socket's buffer.
  if (libc.connect(fd, addressOf(path)) < 0) {
    libc.close(fd);
    return { fd: -1, failure: connectError(path) };
  }
  if (libc.send(fd, bytes, DONTWAIT_NOSIGNAL) === bytes.length) return { fd, failure: "" };
  libc.close(fd);
  return { fd: -1, failure: INCOMPLETE };
}

function addressOf(path: string): Buffer {
  const text = Buffer.from(path);
  const address = Buffer.alloc(text.length + 3);
  address.writeUInt16LE(AF_UNIX, 0);
  text.copy(address, 2);
  return address;
}

/** Derives the reason from the socket's file, because the native build cannot read errno. */
function connectError(path: string): string {
  if (!isAccessible(path, F_OK)) return `${path} does not exist, or its directory is not accessible`;
  if (!isAccessible(path, W_OK)) return `${path} is not writable for the manager's user, so it cannot connect`;
  return isListening(path) ? BACKLOG_FULL : `no program listens on ${path}`;
}

/** Treated as a timeout, because a program listens but does not accept connections. */
const BACKLOG_FULL = "a program listens on the socket, and its backlog is full";
/** __SO_ACCEPTCON in the fourth column (Flags) of /proc/net/unix. */
const LISTENING_FLAG = " 00010000 ";

function isListening(path: string): boolean {
  const lines = (readTextFile("/proc/net/unix") ?? "").split("\n");
  return lines.some((line) => line.includes(LISTENING_FLAG) && line.endsWith(` ${path}`));
}

const F_OK = 0;
const W_OK = 2;

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** In the state `open`, `why` is `NO_DATA` if no byte was available, and "" if more bytes may be available. */
type ReadResult = { readonly state: "open" | "whole" | "failed"; readonly why: string };

const NO_DATA = "no data";

function readAvailable(libc: Libc, fd: number, bytes: Buffer, response: HttpResponseReader): ReadResult {
  for (let count = 0; count < READS_PER_TURN; count = count + 1) {
    const length = libc.recv(fd, bytes, DONTWAIT_NOSIGNAL);
    // The length is negative if no byte is available, and also after an error of the connection. A later read then returns length 0.
    if (length < 0) return { state: "open", why: count === 0 ? NO_DATA : "" };
    if (length === 0) {
      response.endStream();
      return response.isComplete() ? { state: "whole", why: "" } : { state: "failed", why: INCOMPLETE };
    }
    const bodyError = response.addBytes(bytes.subarray(0, length));
    if (bodyError !== "") return { state: "failed", why: bodyError };
    if (response.isComplete()) return { state: "whole", why: "" };
  }
  return { state: "open", why: "" };
}
