/** Declares the codecs of annotation values: expected form, schema, parser, formatter. */
import { formatDuration, parseDurationMs } from "../contract/duration.ts";
import { isDnsLabel } from "../contract/untrusted-text.ts";

type ValueSchema = { readonly type: "string"; readonly pattern?: string; readonly enum?: readonly string[] };

export type Codec<T> = {
  /** Completes the sentence "expected …". */
  readonly expects: string;
  /** The value's syntax, as in the reference pages. */
  readonly syntax: string;
  readonly schema: ValueSchema;
  /** Limit of a list's entries, including duplicates. */
  readonly entryLimit?: number;
  readonly parse: (text: string) => T | undefined;
  readonly format: (value: T) => string;
};

export const durationMs: Codec<number> = {
  expects: "a duration with a unit, such as 30s, 500ms, 2m or 1h",
  syntax: "duration",
  schema: { type: "string", pattern: "^[0-9]{1,6}(ms|s|m|h)$" },
  parse: parseDurationMs,
  format: formatDuration,
};

export function oneOf<const T extends string>(...values: readonly [T, ...T[]]): Codec<T> {
  return {
    expects: `one of ${values.join(", ")}`,
    syntax: values.join(", "),
    schema: { type: "string", enum: values },
    parse: (text) => values.find((value) => value === text),
    format: (value) => value,
  };
}

export const unprivilegedPort: Codec<number> = {
  expects: "a port from 1024 to 65535",
  syntax: "1024–65535",
  schema: { type: "string", pattern: "^[0-9]{4,5}$" },
  parse: (text) => parsePort(text, 1024),
  format: String,
};

/** In ports. Linux limits one program argument to 131,072 bytes; a port with its comma takes up to six bytes. */
export const PORT_LIST_LIMIT = 20_000;

/**
 * Limit of the containers of an injected Pod. One argument of the manager can contain 1,700 of the longest names, and the record
 * of the original hooks of 1,000 containers fits into one environment variable.
 */
export const NAME_LIST_LIMIT = 1_000;

/** Duplicates are removed; the order is preserved. */
export const portList: Codec<readonly number[]> = {
  expects: "ports from 1 to 65535, separated by commas, such as 8080,9090",
  syntax: "port list",
  schema: { type: "string", pattern: "^[0-9]{1,5}( *, *[0-9]{1,5})*$" },
  entryLimit: PORT_LIST_LIMIT,
  parse: (text) => parseList(text, (entry) => parsePort(entry, 1)),
  format: (ports) => ports.join(","),
};

export const nameList: Codec<readonly string[]> = {
  expects: "container names, separated by commas, such as app,worker",
  syntax: "name list",
  schema: { type: "string", pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?( *, *[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$" },
  entryLimit: NAME_LIST_LIMIT,
  parse: (text) => parseList(text, parseDnsLabel),
  format: (names) => names.join(","),
};

export const profileName: Codec<string> = {
  expects: "the name of a profile, lower-case letters, digits and -",
  syntax: "name",
  schema: { type: "string", pattern: "^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" },
  parse: parseDnsLabel,
  format: (name) => name,
};

/** Highest user ID in Kubernetes, 2³¹−1. */
const HIGHEST_USER = 2_147_483_647;

export const runAsUser: Codec<"auto" | "unset" | number> = {
  expects: `auto, unset or a user from 1 to ${HIGHEST_USER}`,
  syntax: "auto, unset, user",
  schema: { type: "string", pattern: "^(auto|unset|[1-9][0-9]{0,9})$" },
  parse: (text) => {
    if (text === "auto" || text === "unset") return text;
    if (!/^[1-9][0-9]{0,9}$/.test(text)) return undefined;
    const user = Number(text);
    return user <= HIGHEST_USER ? user : undefined;
  },
  format: String,
};

function parseList<T>(text: string, read: (entry: string) => T | undefined): readonly T[] | undefined {
  if (text !== text.trim()) return undefined;
  // A set, because searching a list of 20,000 ports for each port would take a second of an admission.
  const values = new Set<T>();
  for (const entry of text.split(",")) {
    const value = read(entry.trim());
    if (value === undefined) return undefined;
    values.add(value);
  }
  return [...values];
}

function parsePort(text: string, lowest: number): number | undefined {
  if (!/^[0-9]{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port >= lowest && port <= 65_535 ? port : undefined;
}

function parseDnsLabel(text: string): string | undefined {
  return isDnsLabel(text) ? text : undefined;
}

/** Admin address of a proxy: a loopback IP or a Unix socket. Host names are refused, because the manager does not use a resolver. */
export const driverUrl: Codec<string> = {
  expects: "http://127.0.0.1:PORT, http://[::1]:PORT or unix:/PATH",
  syntax: "http URL with loopback IP, or unix: path",
  schema: { type: "string", pattern: "^$|^http://(127\\.[0-9.]+|\\[::1\\])(:[0-9]+)?(/.*)?$|^unix:/" },
  parse: (text) => {
    if (text.startsWith("unix:")) return isSocketPath(text.slice("unix:".length)) ? text : undefined;
    return isHttpUrl(text) ? text : undefined;
  },
  format: (url) => url,
};

/**
 * URL of the app with a loopback IP. The Pod's IP is not known when the annotation is written, so any other IP belongs to another
 * Pod or host, to which the manager must not send a POST.
 */
export const appUrl: Codec<string> = {
  expects: "an http URL with a loopback IP as host, such as http://127.0.0.1:8080/drain",
  syntax: "http URL with loopback IP",
  schema: { type: "string", pattern: "^$|^http://(127\\.[0-9.]+|\\[::1\\])(:[0-9]+)?([/#?].*)?$" },
  parse: (text) => (isHttpUrl(text) ? text : undefined),
  format: (url) => url,
};

const URL_LIMIT_CHARACTERS = 512;

/** Refuses control characters and spaces, which could inject a request line or header. */
function isHttpUrl(text: string): boolean {
  if (text.length > URL_LIMIT_CHARACTERS || /[^\x21-\x7e]/.test(text)) return false;
  const match = /^http:\/\/([0-9.]{7,15}|\[[0-9a-fA-F:.]{2,45}\])(?::([0-9]{1,5}))?([/#?].*)?$/.exec(text);
  if (match === null) return false;
  const host = match[1] ?? "";
  const port = Number(match[2] ?? "80");
  return isLoopback(host) && port >= 1 && port <= 65_535;
}

function isLoopback(host: string): boolean {
  if (host.startsWith("[")) return host === "[::1]";
  const octets = host.split(".");
  const areBytes = octets.every((octet) => /^(0|[1-9][0-9]{0,2})$/.test(octet) && Number(octet) <= 255);
  return octets.length === 4 && octets[0] === "127" && areBytes;
}

/** `sun_path` has 108 bytes including the terminating zero. */
function isSocketPath(path: string): boolean {
  if (path.length > 107 || /[^\x21-\x7e]/.test(path)) return false;
  return path.startsWith("/") && !path.endsWith("/") && !path.split("/").includes("..");
}
