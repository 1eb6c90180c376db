/** Log lines as they cross to the thread that writes them: errors become what the log would print of them. */
import type { RelayLog } from "../relay.ts";
import type { ThreadWord } from "./thread-words.ts";

type Line = Extract<ThreadWord, { kind: "line" }>;

export function threadLog(say: (line: Line) => void): RelayLog {
  const at = (level: Line["level"]) => (keys: object, sentence: string) =>
    say({ kind: "line", level, keys: plainKeys(keys), sentence });
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/** An error keeps its code this way, and nothing in it can be what cannot be cloned. */
function plainKeys(keys: object): object {
  const entries = Object.entries(keys).map(([key, value]) => [key, value instanceof Error ? plainError(value) : value]);
  return Object.fromEntries(entries);
}

function plainError(error: Error): object {
  const chain = withCauses(error);
  const code = "code" in error ? { code: String(error.code) } : {};
  return {
    type: error.name,
    message: chain.map(({ message }) => message).join(": "),
    stack: chain.map(({ stack = "" }) => stack).join("\ncaused by: "),
    ...code,
  };
}

/** More say nothing that a log needs; a cause can be its own. */
const CAUSES_LIMIT = 8;

/** The error, its cause, the cause of that, as the log strings those of its own thread together. */
function withCauses(error: Error): readonly Error[] {
  const chain = [error];
  for (let cause = error.cause; cause instanceof Error && chain.length <= CAUSES_LIMIT; cause = cause.cause)
    chain.push(cause);
  return chain;
}
