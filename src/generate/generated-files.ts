/** Lists every generated file with the function that renders it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FAULTS } from "../fault.ts";
import { SKIP_REASONS } from "../injection/outcome.ts";
import { PROBLEMS } from "../policy/problem.ts";
import { REFUSALS as RELAY_REFUSALS } from "../relay/server/guard.ts";
import { MALFORMED_REASONS, OUTCOMES } from "../webhook/admission-outcome.ts";
import { REFUSALS } from "../webhook/intake/refusals.ts";
import { alertReference } from "./alert-reference.ts";
import { chartCopyCondition, chartPolicyComment, chartShippedProfiles } from "./chart-texts.ts";
import { chartValuesSchema } from "./chart-values-schema.ts";
import { configSchema } from "./config-schema.ts";
import { type GeneratedFile, type Marks, replaceBetween } from "./generated-section.ts";
import { MANAGER_SOURCES } from "./manager-settings.ts";
import { meaningTable } from "./markdown-table.ts";
import {
  annotationReference,
  eventReference,
  lintRuleReference,
  ownHookReference,
  profileReference,
  resourcesReference,
  stopSignalReference,
} from "./policy-references.ts";
import {
  commandFlagReference,
  demoFlagReference,
  exitStatusReference,
  managerFlagReference,
  relayMetricReference,
  selfTestFlagReference,
  webhookFlagReference,
  webhookMetricReference,
} from "./program-references.ts";
import { injectWalk, prestopWalk, sliceWalk } from "./walk-reference.ts";

type Sections = Readonly<Record<string, () => string>>;

/** Markdown pages with their generated sections; the rest of a page is written by hand. */
const PAGES: Readonly<Record<string, Sections>> = {
  "CHANGELOG.md": { unreleased: unreleasedChanges },
  "docs/architecture.md": {
    injectPod: injectWalk,
    "the preStop calls": prestopWalk,
    "an EndpointSlice event": sliceWalk,
  },
  "docs/access.md": { resources: resourcesReference },
  "docs/reference/alerts.md": { alerts: alertReference },
  "docs/reference/annotations.md": { annotations: annotationReference, "own hooks": ownHookReference },
  "docs/reference/events.md": { events: eventReference },
  "docs/reference/exit-statuses.md": {
    "command line": () => exitStatusReference("cli/exit-statuses.ts"),
    demo: () => exitStatusReference("demo/exit-statuses.ts"),
    manager: () => exitStatusReference("contract/exit-codes.ts"),
  },
  "docs/reference/faults.md": { faults: () => meaningTable("fault", FAULTS) },
  "docs/reference/flags.md": {
    webhook: webhookFlagReference,
    commands: commandFlagReference,
    demo: demoFlagReference,
    "self-test": selfTestFlagReference,
    manager: managerFlagReference,
  },
  "docs/reference/lint-rules.md": { rules: lintRuleReference, "stop signals": stopSignalReference },
  "docs/reference/metrics.md": {
    webhook: webhookMetricReference,
    outcomes: () => meaningTable("outcome", OUTCOMES),
    malformed: () => meaningTable("reason", MALFORMED_REASONS),
    refused: () => meaningTable("reason", REFUSALS),
    relay: relayMetricReference,
    "relay refused": () =>
      meaningTable(
        "reason",
        Object.fromEntries(Object.values(RELAY_REFUSALS.refused).map(({ reason, message }) => [reason, message])),
      ),
  },
  "docs/reference/problems.md": { problems: () => meaningTable("problem", PROBLEMS) },
  "docs/reference/profiles.md": { profiles: profileReference },
  "docs/reference/reasons.md": { reasons: () => meaningTable("reason", SKIP_REASONS) },
};

export const GENERATED_FILES: readonly GeneratedFile[] = [
  ...Object.entries(PAGES).map(([path, sections]) => ({
    path,
    render: (current: string) =>
      Object.entries(sections).reduce((page, [name, render]) => {
        const marks = { file: path, begin: `<!-- generated: ${name} -->`, end: `<!-- end of ${name} -->` };
        return replaceBetween(page, marks, render());
      }, current),
  })),
  ...MANAGER_SOURCES,
  { path: "docs/config.schema.json", render: () => `${JSON.stringify(configSchema(), null, 2)}\n` },
  { path: "charts/lastcall/values.schema.json", render: () => `${JSON.stringify(chartValuesSchema(), null, 2)}\n` },
  { path: "charts/lastcall/templates/_profiles.tpl", render: chartShippedProfiles },
  { path: "charts/lastcall/templates/_copies.tpl", render: chartCopyCondition },
  {
    path: "charts/lastcall/values.yaml",
    render: (current) => replaceBetween(current, YAML_MARKS, chartPolicyComment()),
  },
];

const YAML_MARKS: Marks = {
  file: "values.yaml",
  begin: "  # generated: policy",
  end: "  # end of policy",
};

const CHANGES_FOLDER = join(import.meta.dirname, "../../changes");

/** One entry per file of `changes`. Nothing is released yet, so Keep a Changelog's sections are not needed. */
function unreleasedChanges(): string {
  const entries = readdirSync(CHANGES_FOLDER)
    .filter((file) => file.endsWith(".md"))
    .sort()
    .map(
      (file) =>
        `- ${readFileSync(join(CHANGES_FOLDER, file), "utf8")
          .trim()
          .replace(/\s*\n\s*/g, " ")}`,
    );
  return ["", ...entries, ""].join("\n");
}
