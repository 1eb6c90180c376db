/** The only reader of the webhook's flags and environment. It reads everything, then answers with all mistakes at once. */
import { parseArgs } from "node:util";
import { nearest } from "../policy/nearest.ts";
import { quote } from "../policy/quote.ts";
import { certificateProblems } from "./certificates/setting-problems.ts";
import { enforcementProblems } from "./enforcement-settings.ts";
import { relayProblems } from "./relay-settings.ts";
import type { Setting, SettingProblem } from "./setting-kinds.ts";
import { SETTING_KEYS, SETTINGS, variableOf, type WebhookSettings } from "./settings.ts";

type ReadSettings = {
  readonly settings: WebhookSettings;
  readonly problems: readonly SettingProblem[];
  /** Only the help was asked for. */
  readonly help: boolean;
};

type Environment = Readonly<Record<string, string | undefined>>;

/** A flag wins over its variable; both are checked. A setting with a problem keeps its default. */
export function readSettings(args: readonly string[], environment: Environment): ReadSettings {
  const problems: SettingProblem[] = [];
  const given = readFlags(args, problems);
  reportNearVariables(environment, problems);
  const read = <K extends keyof WebhookSettings>(key: K): WebhookSettings[K] => {
    const setting: Setting<WebhookSettings[K]> = SETTINGS[key];
    const fromVariable = parseText(setting, variableOf(setting.flag), variableText(setting, environment), problems);
    const fromFlag = parseText(setting, `--${setting.flag}`, given.texts.get(setting.flag), problems);
    return fromFlag ?? fromVariable ?? setting.fallback;
  };
  const settings: WebhookSettings = {
    port: read("port"),
    host: read("host"),
    certificateFile: read("certificateFile"),
    keyFile: read("keyFile"),
    caFile: read("caFile"),
    clientCaFile: read("clientCaFile"),
    caSecret: read("caSecret"),
    caLifeMs: read("caLifeMs"),
    caSettleMs: read("caSettleMs"),
    webhookConfiguration: read("webhookConfiguration"),
    service: read("service"),
    optIn: read("optIn"),
    configFile: read("configFile"),
    image: read("image"),
    imagePullPolicy: read("imagePullPolicy"),
    imagePullSecrets: read("imagePullSecrets"),
    watchPulls: read("watchPulls"),
    kubeVersion: read("kubeVersion"),
    cluster: read("cluster"),
    kubeconfigFile: read("kubeconfigFile"),
    namespace: read("namespace"),
    drainDelayMs: read("drainDelayMs"),
    certificateCheckMs: read("certificateCheckMs"),
    enforceConfiguration: read("enforceConfiguration"),
    enforceCopies: read("enforceCopies"),
    proofNamespace: read("proofNamespace"),
    proofLabels: read("proofLabels"),
    relaySecret: read("relaySecret"),
    relayAddress: read("relayAddress"),
    relayPort: read("relayPort"),
    relayReadPods: read("relayReadPods"),
    adminPort: read("adminPort"),
    adminListen: read("adminListen"),
    logLevel: read("logLevel"),
  };
  checkTogether(settings, problems);
  return { settings: Object.freeze(settings), problems, help: given.help };
}

/** What `lastcall webhook --help` prints. */
export function helpText(): string {
  const left = SETTING_KEYS.map((key) => `  --${SETTINGS[key].flag} ${SETTINGS[key].shows}`);
  const width = 34;
  const rows = SETTING_KEYS.map((key, index) => {
    const head = left[index] ?? "";
    const text = `${SETTINGS[key].summary} (default: ${SETTINGS[key].fallbackShows})`;
    return head.length < width ? `${head.padEnd(width)}${text}` : `${head}\n${" ".repeat(width)}${text}`;
  });
  return [
    "lastcall webhook [flags]",
    "",
    "Serves POST /mutate and /settings, /healthz, /readyz and /metrics over HTTPS.",
    "Every flag is also an environment variable: --drain-delay is LASTCALL_DRAIN_DELAY.",
    "",
    ...rows,
    "",
  ].join("\n");
}

const FLAGS: readonly string[] = SETTING_KEYS.map((key) => SETTINGS[key].flag);

type GivenFlags = { readonly texts: ReadonlyMap<string, string>; readonly help: boolean };

function readFlags(args: readonly string[], problems: SettingProblem[]): GivenFlags {
  const texts = new Map<string, string>();
  let help = false;
  const options = Object.fromEntries(FLAGS.map((flag) => [flag, { type: "string" as const }]));
  // Not strict: the parser would stop at the first mistake.
  const parsed = parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true });
  for (const token of parsed.tokens) {
    if (token.kind === "positional") {
      problems.push({ where: quote(token.value), message: "No word is expected here, only flags." });
    } else if (token.kind === "option") {
      if (token.name === "help" || token.name === "h") help = true;
      else readFlag(token, texts, problems);
    }
  }
  return { texts, help };
}

type FlagToken = { readonly name: string; readonly rawName: string; readonly value?: string | undefined };

function readFlag(token: FlagToken, texts: Map<string, string>, problems: SettingProblem[]): void {
  const where = token.rawName;
  if (!FLAGS.includes(token.name)) {
    const guess = nearest(token.name, FLAGS);
    const hint = guess === undefined ? "see --help" : `did you mean --${guess}?`;
    problems.push({ where: quote(where), message: `There is no such flag; ${hint}` });
  } else if (token.value === undefined || token.value.startsWith("--")) {
    problems.push({ where, message: "A value is missing." });
  } else if (texts.has(token.name)) {
    problems.push({ where, message: "The flag is given twice." });
  } else {
    texts.set(token.name, token.value);
  }
}

function parseText<T>(
  setting: Setting<T>,
  where: string,
  text: string | undefined,
  problems: SettingProblem[],
): T | undefined {
  if (text === undefined) return undefined;
  const value = setting.parse(text);
  if (value === undefined) problems.push({ where, message: `Got ${quote(text)}, expected ${setting.expects}.` });
  return value;
}

/**
 * Kubernetes describes every Service of the namespace in variables: one named `lastcall` gives each Pod
 * `LASTCALL_PORT=tcp://10.96.0.7:443`. Such a value was never meant for us.
 */
function variableText(setting: { readonly flag: string }, environment: Environment): string | undefined {
  const text = environment[variableOf(setting.flag)];
  return text === undefined || /^(tcp|udp|sctp):\/\//.test(text) ? undefined : text;
}

/** A slip of the finger in a variable's name would otherwise be a silent default. */
function reportNearVariables(environment: Environment, problems: SettingProblem[]): void {
  const known = FLAGS.map(variableOf);
  for (const [name, text] of Object.entries(environment)) {
    if (!name.startsWith("LASTCALL_") || known.includes(name) || isServiceLink(name, text ?? "")) continue;
    const word = name.slice("LASTCALL_".length).toLowerCase().replaceAll("_", "-");
    const guess = nearest(word, FLAGS);
    if (guess === undefined) continue;
    problems.push({ where: quote(name), message: `There is no such variable; did you mean ${variableOf(guess)}?` });
  }
}

function isServiceLink(name: string, text: string): boolean {
  return /_SERVICE_(HOST|PORT)(_|$)|_PORT_[0-9]+_/.test(name) || /^(tcp|udp|sctp):\/\//.test(text);
}

function checkTogether(settings: WebhookSettings, problems: SettingProblem[]): void {
  problems.push(...certificateProblems(settings), ...enforcementProblems(settings), ...relayProblems(settings));
  if (settings.kubeVersion === "auto" && settings.cluster === "off") {
    problems.push({ where: "--kube-version", message: "Only with --cluster=watch can auto ask the API server." });
  }
}
