/** Recognises preStop hooks that do nothing but wait. */
import { listAt, objectAt, type RawObject, valueAt, wholeNumberAt } from "../kubernetes/raw-json.ts";

/** Whole seconds the hook sleeps, rounded up; `undefined` when it does anything else. */
export function sleepSecondsOf(handler: RawObject): number | undefined {
  if (Object.keys(handler).length !== 1) return undefined;
  const sleep = objectAt(handler, "sleep");
  if (sleep !== undefined) {
    const seconds = wholeNumberAt(sleep, "seconds");
    return seconds !== undefined && seconds >= 0 ? seconds : undefined;
  }
  const command = listAt(objectAt(handler, "exec"), "command");
  return command.every((word) => typeof word === "string") ? secondsOfCommand(command) : undefined;
}

/** `preStop: {sleep: {seconds: 0}}` is how people say: no hook here. */
export function isNoHook(handler: RawObject): boolean {
  return valueAt(handler, "sleep") !== undefined && sleepSecondsOf(handler) === 0;
}

/** `lifecycle` as it would be written for a plain sleep. */
export function sleepHandler(seconds: number): RawObject {
  return { sleep: { seconds } };
}

function secondsOfCommand(command: readonly string[]): number | undefined {
  const [program = "", ...rest] = command;
  if (baseName(program) === "sleep") return rest.length === 1 ? secondsOfText(rest[0] ?? "") : undefined;
  if (!SHELLS.includes(baseName(program)) || rest.length !== 2 || !/^-e?c$/.test(rest[0] ?? "")) return undefined;
  const script = /^\s*(?:exec\s+)?(\S+)\s+(\S+?)\s*;?\s*$/.exec(rest[1] ?? "");
  return script !== null && baseName(script[1] ?? "") === "sleep" ? secondsOfText(script[2] ?? "") : undefined;
}

const SHELLS: readonly string[] = ["sh", "bash", "ash", "dash"];

function baseName(program: string): string {
  return /^(?:\/(?:usr\/)?bin\/)?([a-z]+)$/.exec(program)?.[1] ?? "";
}

/** GNU and busybox take a fraction and a unit. */
function secondsOfText(text: string): number | undefined {
  const match = /^([0-9]{1,9}(?:\.[0-9]{1,9})?)([smh]?)$/.exec(text);
  if (match === null) return undefined;
  const unit = match[2] === "h" ? 3_600 : match[2] === "m" ? 60 : 1;
  return Math.ceil(Number(match[1]) * unit);
}

/** For messages: which kind of hook this is. */
export function kindOfHook(handler: RawObject): string {
  for (const kind of ["exec", "httpGet", "tcpSocket", "sleep"]) if (objectAt(handler, kind) !== undefined) return kind;
  return "unknown";
}
