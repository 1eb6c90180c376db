/** A heading for every alert of the chart, so that an address can end with it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ALERT_COMMANDS } from "./alert-commands.ts";
import { code } from "./markdown-table.ts";

const FILE = join(import.meta.dirname, "../../charts/lastcall/alerts/lastcall.yaml");

type Alert = {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
};

export function alertReference(): string {
  const { groups } = parse(readFileSync(FILE, "utf8")) as { groups: readonly { rules: readonly Alert[] }[] };
  const alerts = groups.flatMap(({ rules }) => rules);
  const unknown = Object.keys(ALERT_COMMANDS).filter((name) => !alerts.some(({ alert }) => alert === name));
  if (unknown.length > 0) throw new Error(`alert-commands.ts names alerts that the chart lacks: ${unknown.join(", ")}`);
  return alerts
    .map(({ alert, expr, labels, annotations }) => {
      const { summary, description } = annotations;
      const expression = ["```", expr.trimEnd(), "```"].join("\n");
      return `## ${alert}\n\n${labels.severity}: ${summary} ${withoutTemplates(description)}\n\n${expression}\n\nTo find the cause:\n\n${commandsOf(alert)}\n`;
    })
    .join("\n");
}

function commandsOf(alert: string): string {
  const commands = ALERT_COMMANDS[alert];
  if (commands === undefined) throw new Error(`alert-commands.ts lacks the alert ${alert}`);
  return ["```", ...commands, "```"].join("\n");
}

/** Prometheus fills these in: a label of the series, or its value. */
function withoutTemplates(text: string): string {
  return text
    .replaceAll(/\{\{ *\$labels\.(\w+) *\}\}/g, (_, label: string) => code(label))
    .replaceAll(/\{\{[^}]*\}\}/g, code("value"));
}
