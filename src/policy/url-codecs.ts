/** URLs of proxies and apps inside the Pod. Names are refused: the manager never asks a resolver. */
import type { Codec } from "./codecs.ts";

/** The admin address of a proxy: loopback only, or a Unix socket. */
export const driverUrl: Codec<string> = {
  expects: "http://127.0.0.1:PORT, http://[::1]:PORT or unix:/PATH",
  shows: "http URL with loopback IP, or unix: path",
  schema: { type: "string", pattern: "^$|^http://(127\\.[0-9.]+|\\[::1\\])(:[0-9]+)?(/.*)?$|^unix:/" },
  parse: (text) => {
    if (text.startsWith("unix:")) return isSocketPath(text.slice("unix:".length)) ? text : undefined;
    return isHttpUrl(text) ? text : undefined;
  },
  format: (url) => url,
};

/**
 * An address of the app: loopback only. A Pod gets its own address long after this is written, so any other one belongs to
 * something else, and the manager would post to it.
 */
export const appUrl: Codec<string> = {
  expects: "an http URL with a loopback IP as host, such as http://127.0.0.1:8080/drain",
  shows: "http URL with loopback IP",
  schema: { type: "string", pattern: "^$|^http://(127\\.[0-9.]+|\\[::1\\])(:[0-9]+)?([/#?].*)?$" },
  parse: (text) => (isHttpUrl(text) ? text : undefined),
  format: (url) => url,
};

const LIMIT_CHARACTERS = 512;

/** Control characters and spaces could smuggle a second request line or header. */
function isHttpUrl(text: string): boolean {
  if (text.length > LIMIT_CHARACTERS || /[^\x21-\x7e]/.test(text)) return false;
  const match = /^http:\/\/([0-9.]{7,15}|\[[0-9a-fA-F:.]{2,45}\])(?::([0-9]{1,5}))?([/#?].*)?$/.exec(text);
  if (match === null) return false;
  const host = match[1] ?? "";
  const port = Number(match[2] ?? "80");
  return isLoopback(host) && port >= 1 && port <= 65_535;
}

function isLoopback(host: string): boolean {
  if (host.startsWith("[")) return host === "[::1]";
  const parts = host.split(".");
  const areBytes = parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255);
  return parts.length === 4 && parts[0] === "127" && areBytes;
}

/** A Unix socket address holds 108 bytes with its final zero. What ends in a slash is a folder. */
function isSocketPath(path: string): boolean {
  if (path.length > 107 || /[^\x21-\x7e]/.test(path)) return false;
  return path.startsWith("/") && !path.endsWith("/") && !path.split("/").includes("..");
}
