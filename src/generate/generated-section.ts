/** Replaces the generated section of a file, between two marker lines. */

export type GeneratedFile = {
  /** Relative to the project's root. */
  readonly path: string;
  /** @param current empty if the file does not exist */
  readonly render: (current: string) => string;
};

export type Marks = { readonly file: string; readonly begin: string; readonly end: string };

export function replaceBetween(text: string, { file, begin, end }: Marks, section: string): string {
  const beginOffset = text.indexOf(begin);
  const endOffset = text.indexOf(end);
  if (beginOffset < 0 || endOffset < beginOffset)
    throw new Error(`${file}: cannot find a section between ${begin} and ${end}; restore both lines`);
  return `${text.slice(0, beginOffset + begin.length)}\n${section}\n${text.slice(endOffset)}`;
}
