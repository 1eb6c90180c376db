/** The flags of the webhook and of the command line, from what each program reads. */
import type { Command, Option } from "commander";
import type { Ports } from "../cli/ports.ts";
import { buildProgram } from "../cli/program.ts";
import { DEMO_HELP } from "../demo/options.ts";
import { SELF_TEST_HELP } from "../webhook/self-test/options.ts";
import { SETTING_KEYS, SETTINGS, variableOf } from "../webhook/settings.ts";
import { code, markdownTable } from "./markdown-table.ts";

export function webhookFlagReference(): string {
  const rows = SETTING_KEYS.map((key) => {
    const { flag, shows, fallbackShows, summary } = SETTINGS[key];
    return [code(`--${flag}`), shows, fallbackShows, summary, code(variableOf(flag))];
  });
  return markdownTable(["flag", "value", "default", "what it sets", "environment variable"], rows);
}

/** Commands with flags of their own; those that only list another program's have none. */
export function commandFlagReference(): string {
  const program = buildProgram(UNUSED_PORTS, () => {});
  return program.commands
    .filter((command) => ownOptions(command).length > 0)
    .map((command) => [`### lastcall ${command.name()}`, "", sentence(command), "", optionTable(command)].join("\n"))
    .join("\n\n");
}

export function demoFlagReference(): string {
  return `\`\`\`\n${DEMO_HELP.trimEnd()}\n\`\`\``;
}

export function selfTestFlagReference(): string {
  return `\`\`\`\n${SELF_TEST_HELP.trimEnd()}\n\`\`\``;
}

/** The commands are looked at and never run. */
const UNUSED_PORTS = {} as Ports;

function sentence(command: Command): string {
  const description = command.description();
  return `${description.charAt(0).toUpperCase()}${description.slice(1)}.`;
}

function optionTable(command: Command): string {
  const rows = ownOptions(command).map((option) => [code(option.flags), defaultOf(option), option.description]);
  return markdownTable(["flag", "default", "what it does"], rows);
}

/** Without those that are annotations too: they are on a page of their own. */
function ownOptions(command: Command): readonly Option[] {
  return command.options.filter(({ helpGroupHeading }) => helpGroupHeading === undefined);
}

function defaultOf({ defaultValue }: Option): string {
  return typeof defaultValue === "string" ? defaultValue : "–";
}
