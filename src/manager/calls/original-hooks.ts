/** The containers' own preStop hooks that injection put behind ours. Pure. */

export type ChainedHook =
  | { readonly kind: "http-get"; readonly container: string; readonly port: number; readonly path: string }
  | { readonly kind: "sleep"; readonly container: string; readonly seconds: number };

export type ChainedHooks = {
  readonly hooks: readonly ChainedHook[];
  /** Empty, or a sentence about what could not be read. */
  readonly problem: string;
};

type Original = { readonly chain?: Record<string, Handler> | null };
type Handler = { readonly httpGet?: HttpGet | null; readonly sleep?: Sleep | null };
type HttpGet = { readonly port: number; readonly path?: string | null };
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
  return { hooks, problem: unread.length === 0 ? "" : `the hook of ${unread.join(", ")} is neither httpGet nor sleep` };
}

function hookOf(container: string, get: HttpGet | null, sleep: Sleep | null): ChainedHook | undefined {
  if (get !== null && Number.isInteger(get.port) && get.port >= 1 && get.port <= 65_535) {
    const path = get.path ?? "/";
    // What would break the request line is no path.
    if (!/^[\x21-\x7e]*$/.test(path)) return undefined;
    return { kind: "http-get", container, port: get.port, path: path.startsWith("/") ? path : `/${path}` };
  }
  if (sleep !== null && Number.isInteger(sleep.seconds) && sleep.seconds >= 0) {
    return { kind: "sleep", container, seconds: sleep.seconds };
  }
  return undefined;
}

/** Brackets inside texts count too; that only makes the answer larger. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 123 || code === 91) depth += 1;
    if (code === 125 || code === 93) depth -= 1;
    if (depth > deepest) deepest = depth;
  }
  return deepest;
}
