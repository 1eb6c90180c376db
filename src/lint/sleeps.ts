/** Estimates the minimum duration of a hook from its command. */
import { sleepSecondsOf } from "../injection/hooks/own-hooks.ts";
import { listAt, objectAt, type RawObject } from "../kubernetes/raw-json.ts";

export function minimumSeconds(handler: RawObject): number {
  return sleepSecondsOf(handler) ?? sumOfSleeps(shellScriptOf(listAt(objectAt(handler, "exec"), "command")) ?? "");
}

const SHELL = /^(?:\/(?:usr\/)?bin\/)?(?:sh|bash|ash|dash)$/;

export function shellScriptOf(command: readonly unknown[]): string | undefined {
  const [program, ...rest] = command;
  if (typeof program !== "string" || !SHELL.test(program)) return undefined;
  const flagIndex = rest.findIndex(
    (word) => typeof word !== "string" || !/^[-+]/.test(word) || /^-[a-z]*c$/.test(word),
  );
  const [option, script] = [rest[flagIndex], rest[flagIndex + 1]];
  const isScript = typeof option === "string" && /^-[a-z]*c$/.test(option) && typeof script === "string";
  return isScript ? script : undefined;
}

/** Scripts with branches count as 0 s, because a sleep in a branch may not run. */
const CONTROL_FLOW = /\b(?:if|case|for|while|until|function|timeout)\b|\|\||&|\(|\{/;

function sumOfSleeps(script: string): number {
  const commands = script.replace(/[0-9]?>&[0-9]/g, "").replaceAll("&&", ";");
  if (CONTROL_FLOW.test(commands)) return 0;
  const sleeps = commands.matchAll(/(?:^|[;\n])\s*(?:\/bin\/)?sleep ([0-9]{1,6})s?\s*(?=$|[;\n])/g);
  return [...sleeps].reduce((sum, [, seconds]) => sum + Number(seconds), 0);
}
