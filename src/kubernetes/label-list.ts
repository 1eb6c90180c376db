/** Parses the labels in a flag's value. Pure. */

export type Labels = Readonly<Record<string, string>>;

export const LABEL_LIST_EXPECTS = "labels separated by commas, such as team=web,tier=front";

export function parseLabelList(text: string): Labels | undefined {
  const pairs = text.split(",").map((pair) => /^([\w./-]{1,317})=([\w.-]{0,63})$/.exec(pair));
  return pairs.includes(null) ? undefined : Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2]]));
}
