/** URLs of proxies and apps inside the Pod. Names are refused: the manager never asks a resolver. */
import type { Codec } from "./codecs.ts";

/** The admin address of a proxy: loopback only, or a Unix socket. */
export const driverUrl: Codec<string> = {
  expects: "http://127.0.0.1:PORT, http://[::1]:PORT or unix:/PATH",
  shows: "http URL with loopback IP, or unix: path",
  schema: { type: "string", pattern: "^$|^http://(127\\.[0-9.]+|\\[::1\\])(:[0-9]+)?(/.*)?$|^unix:/" },
  parse: (text) => {
    if (text.startsWith("unix:")) return isSocketPath(text.slice("unix:".length)) ? text : undefined;
    return isHttpUrl(text, isLoopback) ? text : undefined;
  },
  format: (url) => url,
};

/** An address of the app: loopback, or `$POD_IP` written as any IP literal of the Pod. */
export const appUrl: Codec<string> = {
  expects: "an http URL with an IP address as host, such as http://127.0.0.1:8080/drain",
  shows: "http URL with loopback or Pod IP",
  schema: { type: "string", pattern: "^$|^http://([0-9.]+|\\[[0-9a-fA-F:.]+\\])(:[0-9]+)?(/.*)?$" },
  parse: (text) => (isHttpUrl(text, () => true) ? text : undefined),
  format: (url) => url,
};

const LIMIT_CHARACTERS = 512;

/** Control characters and spaces could smuggle a second request line or header. */
function isHttpUrl(text: string, accepts: (host: string) => boolean): boolean {
  if (text.length > LIMIT_CHARACTERS || /[^\x21-\x7e]/.test(text)) return false;
  const match = /^http:\/\/([0-9.]{7,15}|\[[0-9a-fA-F:.]{2,45}\])(?::([0-9]{1,5}))?([/#?].*)?$/.exec(text);
  if (match === null) return false;
  const host = match[1] ?? "";
  const port = Number(match[2] ?? "80");
  return isIp(host) && accepts(host) && port >= 1 && port <= 65_535;
}

function isIp(host: string): boolean {
  if (host.startsWith("[")) return URL.canParse(`http://${host}/`);
  const parts = host.split(".");
  return parts.length === 4 && parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255);
}

function isLoopback(host: string): boolean {
  return host === "[::1]" || host.startsWith("127.");
}

/** A Unix socket address holds 108 bytes with its final zero. What ends in a slash is a folder. */
function isSocketPath(path: string): boolean {
  if (path.length > 107 || /[^\x21-\x7e]/.test(path)) return false;
  return path.startsWith("/") && !path.endsWith("/") && !path.split("/").includes("..");
}
