/**
 * Generates the manager's settings and flags as TypeScript from the field table: the manager's compiler supports neither
 * mapped types nor generics.
 */
import type { DerivedRow, FlagKind, Row } from "../policy/field-rows.ts";
import { ROWS } from "../policy/fields.ts";
import { type GeneratedFile, type Marks, replaceBetween } from "./generated-section.ts";

type ManagerField = {
  readonly key: string;
  readonly flag: string;
  readonly kind: FlagKind;
  readonly isAlwaysWritten: boolean;
  readonly doc: string;
  readonly fallback: unknown;
  readonly choices: readonly string[];
};

type Templates = {
  readonly type: (field: ManagerField) => string;
  /** Expression for the flag's text, which is "" for a setting that is not set. */
  readonly format: (field: ManagerField) => string;
  readonly parse: (field: ManagerField) => string;
};

const callReader =
  (reader: string, hasFallback = false) =>
  ({ key, flag }: ManagerField): string =>
    `${reader}(texts, problems, "${flag}"${hasFallback ? `, fallback.${key}` : ""})`;

const LIST_FORMAT: Pick<Templates, "format"> = { format: ({ key }) => `settings.${key}.join(",")` };

const KINDS: Readonly<Record<FlagKind, Templates>> = {
  duration: {
    type: () => "number",
    format: ({ key }) => `formatDuration(settings.${key})`,
    parse: callReader("durationOf", true),
  },
  port: { type: () => "number", format: ({ key }) => `\`\${settings.${key}}\``, parse: callReader("portOf", true) },
  ports: { type: () => "readonly number[]", ...LIST_FORMAT, parse: callReader("portsOf") },
  text: {
    type: () => "string",
    format: ({ key }) => `settings.${key}`,
    parse: ({ flag }) => `texts.get("${flag}") ?? ""`,
  },
  address: { type: () => "string", format: ({ key }) => `settings.${key}`, parse: callReader("addressOf") },
  driver: { type: () => "DriverName", format: ({ key }) => `settings.${key}`, parse: callReader("driverOf", true) },
  choice: {
    type: ({ key }) => typeName(key),
    format: ({ key, isAlwaysWritten, fallback }) =>
      isAlwaysWritten ? `settings.${key}` : `settings.${key} === "${fallback}" ? "" : settings.${key}`,
    parse: ({ key }) => `${key}Of(texts, problems)`,
  },
  hooks: {
    type: () => "readonly HeldContainer[]",
    format: ({ key }) => `hooksText(settings.${key})`,
    parse: callReader("hooksOf"),
  },
  probes: {
    type: () => "readonly KubeletProbe[]",
    format: ({ key }) => `probesText(settings.${key})`,
    parse: callReader("probesOf"),
  },
  switch: { type: () => "boolean", format: () => "", parse: ({ flag }) => `texts.has("${flag}")` },
};

const FIELDS: readonly ManagerField[] = ROWS.flatMap(([key, row]) => fieldOf(key, row));
const CHOICE_FIELDS = FIELDS.filter(({ kind }) => kind === "choice");
const SWITCH_FIELDS = FIELDS.filter(({ kind }) => kind === "switch");
const VALUE_FIELDS = FIELDS.filter(({ kind }) => kind !== "switch");

function fieldOf(key: string, row: Row<unknown> | DerivedRow): readonly ManagerField[] {
  const manager = "codec" in row ? row.manager : row;
  if (manager === undefined) return [];
  const { kind, writeCondition, comment } = manager;
  return [
    {
      key,
      flag: `--${row.name}`,
      kind,
      isAlwaysWritten: writeCondition === undefined,
      doc: comment ?? ("codec" in row ? row.summary : ""),
      fallback: manager.fallback ?? row.fallback,
      choices: "codec" in row ? (row.codec.schema.enum ?? []) : [],
    },
  ];
}

const SETTINGS_MARKS: Marks = {
  file: "src/contract/drain-settings.ts",
  begin: "// generated: settings",
  end: "// end of settings",
};

export const MANAGER_SOURCES: readonly GeneratedFile[] = [
  { path: SETTINGS_MARKS.file, render: (current) => replaceBetween(current, SETTINGS_MARKS, drainSettingsSource()) },
  { path: "src/contract/manager-flags.ts", render: managerFlagsSource },
];

function drainSettingsSource(): string {
  const unions = CHOICE_FIELDS.map(
    ({ key, choices }) => `export type ${typeName(key)} = ${choices.map(quoted).join(" | ")};`,
  );
  const members = FIELDS.map(
    (field) => `  /** ${field.doc} */\n  readonly ${field.key}: ${KINDS[field.kind].type(field)};`,
  );
  const defaults = FIELDS.map(({ key, fallback }) => `  ${key}: ${literal(fallback)},`);
  return [
    ...unions,
    "",
    "export type DrainSettings = {",
    ...members,
    "};",
    "",
    "export const DEFAULT_SETTINGS: DrainSettings = {",
    ...defaults,
    "};",
  ].join("\n");
}

function managerFlagsSource(): string {
  const alwaysWrittenFields = VALUE_FIELDS.filter(({ isAlwaysWritten }) => isAlwaysWritten);
  const optionalFields = VALUE_FIELDS.filter(({ isAlwaysWritten }) => !isAlwaysWritten);
  const types = ["DEFAULT_SETTINGS", ...CHOICE_FIELDS.map(({ key }) => typeName(key)), "DrainSettings"];
  const valueImports = VALUE_FIELDS.flatMap(({ kind }) => FLAG_VALUE_IMPORTS[kind]);
  return [
    "/** The manager's flags. Generated from src/policy/fields.ts by `npm run generate`. */",
    importLine(types, "./drain-settings.ts"),
    importLine(["formatDuration"], "./duration.ts"),
    importLine(["FlagProblem", "FlagTexts", ...valueImports], "./flag-values.ts"),
    "",
    "export type FlagText = { readonly flag: string; readonly text: string };",
    "",
    "export function alwaysWrittenFlags(settings: DrainSettings): FlagText[] {",
    "  return [",
    ...alwaysWrittenFields.map(flagText),
    "  ];",
    "}",
    "",
    "export function optionalFlags(settings: DrainSettings): FlagText[] {",
    "  return [",
    ...optionalFields.map(flagText),
    "  ];",
    "}",
    "",
    "export function enabledSwitches(settings: DrainSettings): string[] {",
    "  const flags: string[] = [];",
    ...SWITCH_FIELDS.map(({ key, flag }) => `  if (settings.${key}) flags.push("${flag}");`),
    "  return flags;",
    "}",
    "",
    "export function settingsOf(texts: FlagTexts, problems: FlagProblem[]): DrainSettings {",
    "  const fallback = DEFAULT_SETTINGS;",
    "  return {",
    ...FIELDS.map((field) => `    ${field.key}: ${KINDS[field.kind].parse(field)},`),
    "  };",
    "}",
    "",
    ...CHOICE_FIELDS.map(choiceReader),
    `export const SWITCH_FLAGS: readonly string[] = [${SWITCH_FIELDS.map(({ flag }) => quoted(flag)).join(", ")}];`,
    "",
    "export const VALUE_FLAGS: readonly string[] = [",
    ...VALUE_FIELDS.map(({ flag }) => `  ${quoted(flag)},`),
    "];",
    "",
  ].join("\n");
}

const FLAG_VALUE_IMPORTS: Readonly<Record<FlagKind, readonly string[]>> = {
  duration: ["durationOf"],
  port: ["portOf"],
  ports: ["portsOf"],
  text: [],
  address: ["addressOf"],
  driver: ["driverOf"],
  choice: ["invalidValue"],
  hooks: ["hooksOf", "hooksText"],
  probes: ["probesOf", "probesText"],
  switch: [],
};

const LINE_WIDTH = 120;

/** Imports names in PascalCase as types. */
function importLine(names: readonly string[], from: string): string {
  const sortedNames = [...new Set(names)].sort((left, right) =>
    left.localeCompare(right, "en", { sensitivity: "base" }),
  );
  const specifiers = sortedNames.map((name) => (/^[A-Z][a-z]/.test(name) ? `type ${name}` : name));
  const line = `import { ${specifiers.join(", ")} } from "${from}";`;
  if (line.length <= LINE_WIDTH) return line;
  return ["import {", ...specifiers.map((name) => `  ${name},`), `} from "${from}";`].join("\n");
}

function flagText(field: ManagerField): string {
  return `    { flag: "${field.flag}", text: ${KINDS[field.kind].format(field)} },`;
}

function choiceReader({ key, flag, choices, fallback }: ManagerField): string {
  const expected = choices.join(", ").replace(/, ([^,]*)$/, " or $1");
  return [
    `function ${key}Of(texts: FlagTexts, problems: FlagProblem[]): ${typeName(key)} {`,
    `  const text = texts.get("${flag}") ?? "${fallback}";`,
    ...choices.map((choice) => `  if (text === "${choice}") return text;`),
    `  problems.push(invalidValue("${flag}", text, "${expected}"));`,
    `  return "${fallback}";`,
    "}",
    "",
  ].join("\n");
}

function typeName(key: string): string {
  return `${key.charAt(0).toUpperCase()}${key.slice(1)}`;
}

function literal(value: unknown): string {
  return typeof value === "number" ? String(value).replace(/\B(?=(\d{3})+$)/g, "_") : JSON.stringify(value);
}

function quoted(text: string): string {
  return `"${text}"`;
}
