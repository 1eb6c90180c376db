/** The containers' own preStop hooks that injection put behind ours. Pure. */
import { depthOf } from "../json-depth.ts";

export type ChainedHook =
  | {
      readonly kind: "http-get";
      readonly container: string;
      readonly port: number;
      readonly path: string;
      readonly headers: readonly Header[];
    }
  | { readonly kind: "sleep"; readonly container: string; readonly seconds: number };

export type ChainedHooks = {
  readonly hooks: readonly ChainedHook[];
  /** Empty, or a sentence about what could not be read. */
  readonly problem: string;
};

type Original = { readonly chain?: Record<string, Handler> | null };
type Handler = { readonly httpGet?: HttpGet | null; readonly sleep?: Sleep | null };
type HttpGet = {
  readonly port: number;
  readonly path?: string | null;
  readonly scheme?: string | null;
  readonly httpHeaders?: readonly Header[] | null;
};
type Header = { readonly name: string; readonly value: string };
type Sleep = { readonly seconds: number };

/** Injection writes at most 4 KiB; more is not from there. */
const LONGEST = 16_384;
const DEEPEST = 16;

/** @param text the value of LASTCALL_ORIGINAL, possibly empty */
export function readChainedHooks(text: string): ChainedHooks {
  if (text === "") return { hooks: [], problem: "" };
  if (text.length > LONGEST || depthOf(text) > DEEPEST)
    return { hooks: [], problem: "it is longer or deeper than injection writes" };
  try {
    const original = JSON.parse(text) as Original;
    return hooksOf(original.chain ?? {});
  } catch {
    return { hooks: [], problem: "it is not the JSON that injection writes" };
  }
}

function hooksOf(chain: Record<string, Handler>): ChainedHooks {
  const hooks: ChainedHook[] = [];
  const unread: string[] = [];
  for (const [container, handler] of Object.entries(chain)) {
    const hook = hookOf(container, handler.httpGet ?? null, handler.sleep ?? null);
    if (hook === undefined) unread.push(container);
    else hooks.push(hook);
  }
  return {
    hooks,
    problem: unread.length === 0 ? "" : `the hook of ${unread.join(", ")} is neither a plain httpGet nor a sleep`,
  };
}

function hookOf(container: string, get: HttpGet | null, sleep: Sleep | null): ChainedHook | undefined {
  if (get !== null) return getOf(container, get);
  if (sleep !== null && Number.isInteger(sleep.seconds) && sleep.seconds >= 0 && sleep.seconds <= LONGEST_SLEEP) {
    return { kind: "sleep", container, seconds: sleep.seconds };
  }
  return undefined;
}

/** Longer timers overflow in the runtimes, and injection chains none. */
const LONGEST_SLEEP = 1_000_000;

function getOf(container: string, get: HttpGet): ChainedHook | undefined {
  if (!Number.isInteger(get.port) || get.port < 1 || get.port > 65_535) return undefined;
  // Not every build of the manager can speak TLS to an address.
  if ((get.scheme ?? "HTTP") !== "HTTP") return undefined;
  const path = get.path ?? "/";
  const headers = get.httpHeaders ?? [];
  // What would break the request is none.
  if (!/^[\x21-\x7e]*$/.test(path) || !headers.every(isHeader)) return undefined;
  return { kind: "http-get", container, port: get.port, path: path.startsWith("/") ? path : `/${path}`, headers };
}

function isHeader(header: Header): boolean {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(header.name) && /^[\t\x20-\x7e]*$/.test(header.value);
}
