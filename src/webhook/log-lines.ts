/** Where log lines go: gathered here, written off the event loop. */
import { type DestinationStream, pino } from "pino";

type LogLines = DestinationStream & {
  /** Everything gathered so far is written when it returns. */
  readonly flushSync: () => void;
};

const GATHERED_CHARACTERS = 15_000;
const GATHERED_MS = 200;
/** Beyond this backlog, in bytes, lines are dropped. */
const BACKLOG_BYTES = 1_048_576;

/**
 * A log reader that is slow must never hold up an admission, and one write per line costs more than the line. The
 * writer gets large texts because it measures all it holds with each one it is given.
 */
export function logLines(): LogLines {
  const writer = pino.destination({ dest: 1, sync: false, maxLength: BACKLOG_BYTES });
  let gathered = "";
  const handOver = (): void => {
    if (gathered === "") return;
    writer.write(gathered);
    gathered = "";
  };
  setInterval(handOver, GATHERED_MS).unref();
  return {
    write: (line) => {
      gathered += line;
      if (gathered.length >= GATHERED_CHARACTERS) handOver();
    },
    flushSync: () => {
      handOver();
      writer.flushSync();
    },
  };
}
