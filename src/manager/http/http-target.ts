/** Parses the URLs of the settings. Hosts have to be IP literals, because the manager has no DNS resolver. Pure. */

export type HttpTarget = {
  /** An IP literal, or the absolute path of a Unix socket with port 0. */
  readonly host: string;
  readonly port: number;
  readonly path: string;
  /** The decoded fragment, which selects a value in the response. */
  readonly selector: string;
};

const URL_PATTERN = /^http:\/\/([0-9.]{7,15}|\[[0-9a-fA-F:.]{2,45}\])(:[0-9]{1,5})?([/?][^#]*)?(#.*)?$/;

/** @returns undefined for an invalid URL, such as one with control characters or spaces */
export function parseHttpTarget(url: string): HttpTarget | undefined {
  if (/[^\x21-\x7e]/.test(url)) return undefined;
  const match = URL_PATTERN.exec(url);
  if (match === null) return undefined;
  const host = match[1] ?? "";
  const port = (match[2] ?? "") === "" ? 80 : Number((match[2] ?? "").slice(1));
  const path = match[3] ?? "";
  const selector = decodeFragment((match[4] ?? "").slice(1));
  if (port < 1 || port > 65_535 || selector === undefined) return undefined;
  return {
    host: host.startsWith("[") ? host.slice(1, host.length - 1) : host,
    port,
    path: path.startsWith("/") ? path : `/${path}`,
    selector,
  };
}

const SOCKET_SCHEME = "unix:";
/** `sun_path` has 108 bytes including the terminating zero. */
const SOCKET_PATH = /^\/[\x21-\x7e]{1,106}$/;

/** Parses a URL like {@link parseHttpTarget}, and also `unix:/PATH` with a path of at most 107 bytes. */
export function parseAdminTarget(url: string): HttpTarget | undefined {
  if (!url.startsWith(SOCKET_SCHEME)) return parseHttpTarget(url);
  const host = url.slice(SOCKET_SCHEME.length);
  return SOCKET_PATH.test(host) ? { host, port: 0, path: "/", selector: "" } : undefined;
}

export function isUnixTarget(target: HttpTarget): boolean {
  return target.host.startsWith("/");
}

/** @param admin the admin URL from the settings; its path becomes a prefix, because the interface may be behind a reverse proxy */
export function adminTarget(admin: HttpTarget, pathAndQuery: string): HttpTarget {
  const base = admin.path.endsWith("/") ? admin.path.slice(0, admin.path.length - 1) : admin.path;
  return { host: admin.host, port: admin.port, path: `${base}${pathAndQuery}`, selector: "" };
}

function decodeFragment(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
