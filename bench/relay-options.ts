/** Reads the options of `npm run bench:relay`. */

export type Options = { readonly json: boolean; readonly streams: number };

export const USAGE = "usage: npm run bench:relay [-- --json] [-- --streams=N], N from 100 to 15000\n";

const DEFAULT_STREAMS = 5_000;

export function readOptions(args: readonly string[]): Options | undefined {
  let json = false;
  let streams = DEFAULT_STREAMS;
  for (const arg of args) {
    const streamsText = /^--streams=([0-9]{1,5})$/.exec(arg)?.[1];
    if (arg === "--json") json = true;
    else if (streamsText !== undefined) streams = Number(streamsText);
    else return undefined;
  }
  // Ports and files of one process limit the number of streams.
  return streams >= 100 && streams <= 15_000 ? { json, streams } : undefined;
}
