/** The comment in the chart's values.yaml that shows every default of the policy, ready to be uncommented. */
import { ANNOTATIONS, FIELDS, fallbackText } from "../policy/annotation-table.ts";

const WIDTH = 118;

/** Comment lines, each with two spaces before: they stand inside `policy:`. */
export function chartPolicyComment(): string {
  const rows = FIELDS.map((field) => ({ field, row: ANNOTATIONS[field] }))
    .filter(({ row }) => row.scopes.includes("cluster"))
    .map(({ field, row }) => {
      const inWords = row.fallbackShows !== undefined;
      const summary =
        inWords && row.fallbackShows !== "–" ? `${row.summary} Default: ${fallbackText(field)}.` : row.summary;
      const shown = inWords ? `<${row.codec.shows}>` : yamlText(fallbackText(field));
      return [...wrapped(summary), `  #   ${row.name}: ${shown}`].join("\n");
    });
  return ["  # Defaults of the annotations, as text:", "  # defaults:", ...rows].join("\n");
}

/** A number in YAML would not be text. */
function yamlText(text: string): string {
  return /^[0-9]+$/.test(text) ? `"${text}"` : text;
}

function wrapped(text: string): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length + 1 > WIDTH - "  #   # ".length) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((part) => `  #   # ${part}`);
}
