/** The counters of TCP handshakes in `/proc/net/snmp`. Pure. */

export type Opens = { readonly passive: number; readonly active: number };

/** @returns -1 for what the text does not tell */
export function parseOpens(text: string): Opens {
  const names = lineWords(text, "Tcp: ", 0);
  const values = names.end < 0 ? names : lineWords(text, "Tcp: ", names.end);
  if (values.end < 0) return { passive: -1, active: -1 };
  return {
    passive: counter(names.words, values.words, "PassiveOpens"),
    active: counter(names.words, values.words, "ActiveOpens"),
  };
}

type Line = { readonly words: readonly string[]; readonly end: number };

function lineWords(text: string, prefix: string, from: number): Line {
  const inside = text.indexOf(`\n${prefix}`, from === 0 ? 0 : from - 1);
  const start = from === 0 && text.startsWith(prefix) ? 0 : inside + 1;
  const end = text.indexOf("\n", start);
  if ((inside < 0 && start !== 0) || !text.startsWith(prefix, start) || end < 0) return { words: [], end: -1 };
  return { words: text.slice(start + prefix.length, end).split(" "), end: end + 1 };
}

function counter(names: readonly string[], values: readonly string[], name: string): number {
  const text = values[names.indexOf(name)] ?? "";
  return names.length === values.length && /^[0-9]{1,15}$/.test(text) ? Number(text) : -1;
}
