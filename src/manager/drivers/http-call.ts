/** One HTTP request whose answer is small and kept as a text. */
import { type HttpCall, streamHttp } from "./http-stream.ts";

export type HttpAnswer = {
  /** 0 when no whole answer came; `failure` then says why. */
  readonly status: number;
  readonly body: string;
  readonly failure: string;
};

/** More than any number needs, and a metrics page fits. */
export const ANSWER_LIMIT_BYTES = 65_536;

/** @param done called exactly once */
export function callHttp(call: HttpCall, done: (answer: HttpAnswer) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const keep = (chunk: Buffer): string => {
    size = size + chunk.length;
    if (size > ANSWER_LIMIT_BYTES) return `the answer is longer than ${ANSWER_LIMIT_BYTES} bytes`;
    chunks.push(chunk);
    return "";
  };
  streamHttp(call, keep, (end) => {
    const body = end.failure === "" ? Buffer.concat(chunks).toString("utf8") : "";
    done({ status: end.status, body, failure: end.failure });
  });
}
