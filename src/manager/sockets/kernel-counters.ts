/** Parses the kernel's counters of the network namespace, which are pairs of lines: names and values. */

export type Opens = { readonly passive: number; readonly active: number };

export function parseOpens(snmp: string): Opens {
  return { passive: counterIn(snmp, "Tcp: ", "PassiveOpens"), active: counterIn(snmp, "Tcp: ", "ActiveOpens") };
}

/**
 * Numbers since the start of the network namespace; -1 if the kernel does not have the counter.
 * See https://docs.kernel.org/networking/snmp_counter.html.
 */
export type Losses = {
  /** Sent segments with the RST flag: aborted connections, and refused ones. */
  readonly resets: number;
  /** Connections that the kernel dropped because a listener's backlog was full. */
  readonly drops: number;
};

/**
 * @param snmp content of /proc/net/snmp
 * @param netstat content of /proc/net/netstat
 */
export function parseLosses(snmp: string, netstat: string): Losses {
  return {
    resets: counterIn(snmp, "Tcp: ", "OutRsts"),
    drops: counterIn(netstat, "TcpExt: ", "ListenDrops"),
  };
}

function counterIn(text: string, prefix: string, name: string): number {
  const names = lineWords(text, prefix, 0);
  const values = names.end < 0 ? names : lineWords(text, prefix, names.end);
  return values.end < 0 ? -1 : counter(names.words, values.words, name);
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
