/** HTTP over a Unix socket; see {@link HttpStream}. */
import type { Libc } from "../ports.ts";
import { createHttpAnswerReader } from "./http-answer.ts";
import type { HttpCall, HttpEnd } from "./http-stream.ts";
import { askUnix } from "./unix-stream.ts";

/** @param call its host is the path of the socket */
export function streamUnix(
  libc: Libc,
  call: HttpCall,
  onChunk: (chunk: Buffer) => string,
  done: (end: HttpEnd) => void,
): void {
  const { target, method, limitMs } = call;
  const head = `${method} ${target.path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\naccept: */*\r\n`;
  const bytes = Buffer.from(`${head}content-length: 0\r\n\r\n`);
  const answer = createHttpAnswerReader(onChunk);
  const reader = { take: answer.take, takeEnd: answer.takeEnd, isWhole: answer.isWhole };
  askUnix(libc, { path: target.host, bytes, limitMs }, reader, ({ failure, timedOut }) =>
    done({ status: failure === "" ? answer.status() : 0, failure, timedOut }),
  );
}
