/** Defines a flag for every annotation: `--drain-timeout 90s` overrides the annotation `lastcall.dev/drain-timeout`. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { ANNOTATIONS, FIELDS, type Field, fallbackText, PREFIX } from "../policy/fields.ts";
import { readValue } from "../policy/read-value.ts";
import type { Layer } from "../policy/resolve.ts";

/** Without `inject`, because running the command opts in. */
export const POLICY_FLAGS: readonly Field[] = FIELDS.filter((field) => field !== "inject");

/** Name of the layer of these flags. The origin of a value from this layer is "pod command line". */
export const FLAG_LAYER = "command line";

export function addPolicyFlags(command: Command): Command {
  for (const field of POLICY_FLAGS) {
    const { name, codec, summary } = ANNOTATIONS[field];
    const option = new Option(`--${name} <value>`, `${summary} Default: ${fallbackText(field)}.`);
    option.helpGroup("Policy (each flag is also an annotation lastcall.dev/NAME):");
    option.argParser((text: string) => {
      const reading = readValue<unknown>(codec, text);
      if (!reading.ok) throw new InvalidArgumentError(reading.message);
      return text;
    });
    command.addOption(option);
  }
  return command;
}

export function overridesFrom(options: Readonly<Record<string, unknown>>): readonly Layer[] {
  const annotations: Record<string, string> = {};
  for (const field of POLICY_FLAGS) {
    const { name } = ANNOTATIONS[field];
    const value = options[camelCase(name)];
    if (typeof value === "string") annotations[PREFIX + name] = value;
  }
  return Object.keys(annotations).length === 0 ? [] : [{ scope: "pod", name: FLAG_LAYER, annotations }];
}

function camelCase(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
