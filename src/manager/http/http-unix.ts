/**
 * One HTTP exchange over a Unix socket, by the C library: the native runtime has no such sockets. No call blocks; bytes that
 * have not arrived are read after a pause.
 */
import { accessSync } from "node:fs";
import type { Libc } from "../ports.ts";
import { readTextFile } from "../read-text.ts";
import { createHttpAnswerReader, type HttpAnswerReader } from "./http-answer.ts";
import { BROKEN_OFF, type HttpCall, type HttpEnd, tooLate } from "./http-client.ts";

const AF_UNIX = 1;
/** SOCK_STREAM, SOCK_NONBLOCK, SOCK_CLOEXEC. */
const STREAM_AT_ONCE = 1 + 0x800 + 0x80000;
/** MSG_DONTWAIT, MSG_NOSIGNAL. */
const AT_ONCE = 0x40 + 0x4000;
const READ_BYTES = 65_536;
/** Then others have their turn. */
const READS_AT_ONCE = 8;
const LONGEST_PAUSE_MS = 10;

/** See `HttpStream`. @param call its host is the path of the socket. @param done never called before this returns */
export function streamUnix(
  libc: Libc,
  call: HttpCall,
  onChunk: (chunk: Buffer) => string,
  done: (end: HttpEnd) => void,
): void {
  const startedMs = performance.now();
  const { fd, failure } = dial(libc, call);
  if (failure !== "") {
    const timedOut = failure === FULL;
    setTimeout(() => done({ status: 0, failure, timedOut }), 0);
    return;
  }
  const answer = createHttpAnswerReader(onChunk);
  const bytes = Buffer.alloc(READ_BYTES);
  const readLater = (pauseMs: number): void => {
    const { state, why } = readAvailable(libc, fd, bytes, answer);
    const late = performance.now() - startedMs >= call.limitMs;
    if (state === "open" && !late) {
      const nextMs = why === NOTHING ? Math.min(LONGEST_PAUSE_MS, pauseMs * 2) : 1;
      setTimeout(() => readLater(nextMs), nextMs);
      return;
    }
    libc.close(fd);
    if (state === "open") done({ status: 0, failure: tooLate(call), timedOut: true });
    else done({ status: why === "" ? answer.status() : 0, failure: why, timedOut: false });
  };
  setTimeout(() => readLater(1), 0);
}

type Dialled = { readonly fd: number; readonly failure: string };

function dial(libc: Libc, { target, method }: HttpCall): Dialled {
  const path = target.host;
  const head = `${method} ${target.path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\naccept: */*\r\n`;
  const bytes = Buffer.from(`${head}content-length: 0\r\n\r\n`);
  if (!libc.available) return { fd: -1, failure: "Unix sockets cannot be opened here" };
  const fd = libc.socket(AF_UNIX, STREAM_AT_ONCE, 0);
  if (fd < 0) return { fd, failure: "no more sockets can be opened" };
  // The listener need not have accepted: what is sent waits there for it.
  if (libc.connect(fd, addressOf(path)) < 0) {
    libc.close(fd);
    return { fd: -1, failure: whyNot(path) };
  }
  if (libc.send(fd, bytes, AT_ONCE) === bytes.length) return { fd, failure: "" };
  libc.close(fd);
  return { fd: -1, failure: BROKEN_OFF };
}

/** `sockaddr_un`: the family, then the path with its final zero. */
function addressOf(path: string): Buffer {
  const text = Buffer.from(path);
  const address = Buffer.alloc(text.length + 3);
  address.writeUInt16LE(AF_UNIX, 0);
  text.copy(address, 2);
  return address;
}

/** The C library's error number cannot be had in the native build, so the file is asked. */
function whyNot(path: string): string {
  if (!isAllowed(path, F_OK)) return `there is no ${path}, or its folder may not be entered`;
  if (!isAllowed(path, W_OK)) return `${path} may not be written to by the manager's user, which connecting takes`;
  return isListening(path) ? FULL : `no program listens on ${path}`;
}

/** As an answer that never comes: a program listens, and has not accepted the earlier connections either. */
const FULL = "a program listens on the socket and takes no more connections";
/** SO_ACCEPTCON, in the fourth column. */
const LISTENS = " 00010000 ";

/** By the kernel's list; where that is missing, no program listens. */
function isListening(path: string): boolean {
  const lines = (readTextFile("/proc/net/unix") ?? "").split("\n");
  return lines.some((line) => line.includes(LISTENS) && line.endsWith(` ${path}`));
}

const F_OK = 0;
const W_OK = 2;

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** `open` with `NOTHING` where no byte came, or empty where there may be more at once. */
type Read = { readonly state: "open" | "whole" | "failed"; readonly why: string };

const NOTHING = "nothing came";

function readAvailable(libc: Libc, fd: number, bytes: Buffer, answer: HttpAnswerReader): Read {
  for (let count = 0; count < READS_AT_ONCE; count = count + 1) {
    const length = libc.recv(fd, bytes, AT_ONCE);
    // An error shows as the end at the next read.
    if (length < 0) return { state: "open", why: count === 0 ? NOTHING : "" };
    if (length === 0) {
      answer.takeEnd();
      return answer.isWhole() ? { state: "whole", why: "" } : { state: "failed", why: BROKEN_OFF };
    }
    const refusal = answer.take(bytes.subarray(0, length));
    if (refusal !== "") return { state: "failed", why: refusal };
    if (answer.isWhole()) return { state: "whole", why: "" };
  }
  return { state: "open", why: "" };
}
