/** The end of an HTTP/1.1 answer, found without a library so that nothing is retried or hidden. Pure. */

export type AnswerReading =
  | { readonly complete: false }
  | { readonly complete: true; readonly status: number; readonly keepsOpen: boolean };

const INCOMPLETE: AnswerReading = { complete: false };

/** @param text everything received for this request, one character per byte; @param ended the server closed. */
export function readAnswer(text: string, ended: boolean): AnswerReading {
  const headEnd = text.indexOf("\r\n\r\n");
  const status = /^HTTP\/1\.[01] ([0-9]{3})[ \r]/.exec(text);
  if (headEnd < 0 || status === null) return INCOMPLETE;
  const head = text.slice(0, headEnd + 2).toLowerCase();
  const keepsOpen = !ended && asksToKeep(head);
  const done: AnswerReading = { complete: true, status: Number(status[1]), keepsOpen };
  const body = text.slice(headEnd + 4);
  const length = /\r\ncontent-length: *([0-9]+)/.exec(head);
  if (length !== null) return body.length >= Number(length[1]) ? done : INCOMPLETE;
  if (/\r\ntransfer-encoding:[^\r]*chunked/.test(head)) return lastChunkSeen(body) ? done : INCOMPLETE;
  if (status[1] === "204" || status[1] === "304") return done;
  // Without a length only the close tells that the answer is whole.
  return ended ? { ...done, keepsOpen: false } : INCOMPLETE;
}

/** @param head in small letters. HTTP/1.1 keeps unless told otherwise, HTTP/1.0 closes unless told otherwise. */
function asksToKeep(head: string): boolean {
  if (head.startsWith("http/1.0")) return /\r\nconnection:[^\r]*keep-alive/.test(head);
  return !/\r\nconnection:[^\r]*close/.test(head);
}

function lastChunkSeen(body: string): boolean {
  let at = 0;
  while (at < body.length) {
    const lineEnd = body.indexOf("\r\n", at);
    if (lineEnd < 0) return false;
    const size = Number.parseInt(body.slice(at, lineEnd), 16);
    if (Number.isNaN(size)) return false;
    if (size === 0) return body.endsWith("\r\n\r\n");
    at = lineEnd + 2 + size + 2;
  }
  return false;
}
