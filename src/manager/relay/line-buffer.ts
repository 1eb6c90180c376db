/** Cuts a stream of bytes into lines. What is no line within the limit is never kept. */

export type LineBuffer = {
  /** @returns the lines that are whole now, without their ends; undefined once a line was longer than the limit */
  readonly take: (chunk: Buffer) => readonly string[] | undefined;
};

const NEWLINE = 10;

export function createLineBuffer(limitBytes: number): LineBuffer {
  // Only whole lines are decoded: a character may be cut in two between chunks.
  let parts: Buffer[] = [];
  let size = 0;
  let broken = false;

  const keep = (part: Buffer): void => {
    size = size + part.length;
    if (size > limitBytes) broken = true;
    // A copy: a part must not keep the whole chunk, nor change with it.
    else if (part.length > 0) parts.push(Buffer.from(part));
  };

  const whole = (): string => {
    const line = Buffer.concat(parts).toString("utf8");
    parts = [];
    size = 0;
    return line;
  };

  return {
    take: (chunk) => {
      const lines: string[] = [];
      let from = 0;
      let end = broken ? -1 : chunk.indexOf(NEWLINE);
      while (end >= 0 && !broken) {
        keep(chunk.subarray(from, end));
        if (!broken) lines.push(whole());
        from = end + 1;
        end = chunk.indexOf(NEWLINE, from);
      }
      if (!broken) keep(chunk.subarray(from));
      if (broken) parts = [];
      return broken ? undefined : lines;
    },
  };
}
