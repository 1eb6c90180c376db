/** Every generated file and how its content follows from the tables. Nothing here writes. */
import { annotationReference } from "./annotation-reference.ts";
import { chartPolicyComment } from "./chart-policy-comment.ts";
import { chartValuesSchema } from "./chart-values-schema.ts";
import { configSchema } from "./config-schema.ts";
import { faultReference, problemReference, reasonReference } from "./reason-reference.ts";

export type GeneratedFile = {
  /** Relative to the project's root. */
  readonly path: string;
  /** From the file as it is (empty when absent) to the file as it must be. */
  readonly render: (current: string) => string;
};

const SECTIONS: readonly { readonly name: string; readonly render: () => string }[] = [
  { name: "annotations", render: annotationReference },
  { name: "reasons", render: reasonReference },
  { name: "problems", render: problemReference },
  { name: "faults", render: faultReference },
];

export const GENERATED_FILES: readonly GeneratedFile[] = [
  { path: "README.md", render: (current) => SECTIONS.reduce(replaceSection, current) },
  { path: "docs/config.schema.json", render: () => `${JSON.stringify(configSchema(), null, 2)}\n` },
  { path: "charts/lastcall/values.schema.json", render: () => `${JSON.stringify(chartValuesSchema(), null, 2)}\n` },
  {
    path: "charts/lastcall/values.yaml",
    render: (current) => replaceBetween(current, YAML_MARKS, chartPolicyComment()),
  },
];

type Marks = { readonly file: string; readonly begin: string; readonly end: string };

const YAML_MARKS: Marks = {
  file: "values.yaml",
  begin: "  # generated: policy",
  end: "  # end of policy",
};

/** A section stands between two comment lines that Markdown does not show. */
function replaceSection(text: string, section: { readonly name: string; readonly render: () => string }): string {
  const begin = `<!-- generated: ${section.name} -->`;
  const end = `<!-- end of ${section.name} -->`;
  return replaceBetween(text, { file: "README.md", begin, end }, section.render());
}

function replaceBetween(text: string, { file, begin, end }: Marks, section: string): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${file} has no section between ${begin} and ${end}`);
  return `${text.slice(0, from + begin.length)}\n${section}\n${text.slice(to)}`;
}
