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
  const { name, message, stack } = error;
  const code = "code" in error ? { code: String(error.code) } : {};
  return { type: name, message, stack, ...code };
}
