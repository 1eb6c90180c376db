/** The words `npm run bench:relay` takes. */

export type Options = { readonly json: boolean; readonly streams: number };

export const USAGE = "usage: npm run bench:relay [-- --json] [-- --streams=N], N from 100 to 15000\n";

const STREAMS = 5_000;

/** `undefined` when a word is not known or a number is out of bounds. */
export function readOptions(words: readonly string[]): Options | undefined {
  let json = false;
  let streams = STREAMS;
  for (const word of words) {
    const given = /^--streams=([0-9]{1,5})$/.exec(word)?.[1];
    if (word === "--json") json = true;
    else if (given !== undefined) streams = Number(given);
    else return undefined;
  }
  // One machine has no more ports and files for one process.
  return streams >= 100 && streams <= 15_000 ? { json, streams } : undefined;
}
