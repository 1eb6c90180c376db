/** Reads the chained hooks, the containers' own preStop hooks that the manager runs, from LASTCALL_ORIGINAL. Pure. */
import { depthOf, isRecord } from "../json-reader.ts";

export type ChainedHook =
  | {
      readonly kind: "http-get";
      readonly container: string;
      readonly port: number;
      readonly path: string;
      readonly headers: readonly Header[];
    }
  | { readonly kind: "sleep"; readonly container: string; readonly seconds: number };

type ChainedHooks = {
  readonly hooks: readonly ChainedHook[];
  /** An error, or empty. */
  readonly problem: string;
};

type Header = { readonly name: string; readonly value: string };

/** Injection writes at most 4 KiB. */
const RECORD_LIMIT_CHARACTERS = 16_384;
const DEPTH_LIMIT = 16;

export function readChainedHooks(text: string): ChainedHooks {
  if (text === "") return NOTHING_CHAINED;
  if (text.length > RECORD_LIMIT_CHARACTERS || depthOf(text) > DEPTH_LIMIT)
    return {
      hooks: [],
      problem: "the value is longer or more deeply nested than a value that injection writes",
    };
  let record: unknown;
  try {
    record = JSON.parse(text);
  } catch {
    return NOT_A_RECORD;
  }
  if (!isRecord(record)) return NOT_A_RECORD;
  const chain = record["chain"];
  if (isAbsent(chain)) return NOTHING_CHAINED;
  return hooksOf(chain);
}

const NOTHING_CHAINED: ChainedHooks = { hooks: [], problem: "" };
const NOT_A_RECORD: ChainedHooks = {
  hooks: [],
  problem: "the value is not the JSON that injection writes",
};

/** Returns the valid hooks, and names the containers of invalid hooks in `problem`. */
function hooksOf(chain: unknown): ChainedHooks {
  if (!isRecord(chain)) return NOT_A_RECORD;
  const hooks: ChainedHook[] = [];
  const invalidContainers: string[] = [];
  for (const container of Object.keys(chain)) {
    const hook = hookOf(container, chain[container]);
    if (hook === undefined) invalidContainers.push(container);
    else hooks.push(hook);
  }
  return {
    hooks,
    problem:
      invalidContainers.length === 0
        ? ""
        : `the preStop hook of container ${invalidContainers.join(", ")} is neither a sleep nor an httpGet with the scheme HTTP`,
  };
}

function hookOf(container: string, handler: unknown): ChainedHook | undefined {
  if (!isRecord(handler)) return undefined;
  const httpGet = handler["httpGet"];
  if (!isAbsent(httpGet)) return httpGetOf(container, httpGet);
  const sleep = handler["sleep"];
  const seconds = isRecord(sleep) ? wholeNumber(sleep["seconds"]) : -1;
  return seconds >= 0 && seconds <= SLEEP_LIMIT_SECONDS ? { kind: "sleep", container, seconds } : undefined;
}

/** In seconds. Below the maximum of Node's timers (2^31 ms); injection does not write longer sleeps. */
const SLEEP_LIMIT_SECONDS = 1_000_000;

function httpGetOf(container: string, httpGet: unknown): ChainedHook | undefined {
  if (!isRecord(httpGet)) return undefined;
  const port = wholeNumber(httpGet["port"]);
  const path = textOf(httpGet["path"], "/");
  const headers = headersOf(httpGet["httpHeaders"]);
  if (port < 1 || port > 65_535 || path === undefined || headers === undefined) return undefined;
  // An HTTPS hook is not run: its target is an IP address, which the native build's TLS client does not support.
  if (textOf(httpGet["scheme"], "HTTP") !== "HTTP") return undefined;
  // Other characters would make the request line invalid.
  if (!/^[\x21-\x7e]*$/.test(path)) return undefined;
  return { kind: "http-get", container, port, path: path.startsWith("/") ? path : `/${path}`, headers };
}

function headersOf(list: unknown): Header[] | undefined {
  const headers: Header[] = [];
  if (isAbsent(list)) return headers;
  if (!Array.isArray(list)) return undefined;
  const items: readonly unknown[] = list;
  for (const item of items) {
    const name = isRecord(item) ? item["name"] : undefined;
    const value = isRecord(item) ? item["value"] : undefined;
    if (typeof name !== "string" || !/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return undefined;
    if (typeof value !== "string" || !/^[\t\x20-\x7e]*$/.test(value)) return undefined;
    headers.push({ name, value });
  }
  return headers;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function textOf(value: unknown, fallback: string): string | undefined {
  if (isAbsent(value)) return fallback;
  return typeof value === "string" ? value : undefined;
}

function wholeNumber(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) ? value : -1;
}
