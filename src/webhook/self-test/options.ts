/** The flags of `lastcall self-test`. All mistakes are told at once. */
import { parseArgs } from "node:util";
import { parseDurationMs } from "../../contract/duration.ts";
import { isNamespaceName } from "../../kubernetes/namespace-name.ts";
import { quote } from "../../policy/quote.ts";

export type SelfTestOptions = {
  readonly namespace: string;
  readonly waitMs: number;
  /** Empty: the account of the Pod this process runs in. */
  readonly kubeconfigFile: string;
};

export type ReadOptions = {
  readonly options: SelfTestOptions;
  readonly mistakes: readonly string[];
  readonly help: boolean;
};

export const SELF_TEST_HELP = [
  "lastcall self-test [flags]",
  "",
  "Asks the API server for two dry-run Pods: one that opted in must come back injected, one that opted out must not.",
  "",
  "  --namespace NAME     where; not a namespace that is never injected (default: default)",
  "  --wait DURATION      how long to try (default: 30s)",
  "  --kubeconfig FILE    the cluster (default: the one this Pod runs in)",
  "",
].join("\n");

export function readOptions(args: readonly string[]): ReadOptions {
  const mistakes: string[] = [];
  const texts = new Map<string, string>();
  const strings = Object.fromEntries(FLAGS.map((flag) => [flag, { type: "string" as const }]));
  const { tokens } = parseArgs({ args: [...args], options: strings, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === "positional") mistakes.push(`${quote(token.value)}: no word is expected here, only flags`);
    if (token.kind !== "option" || token.name === "help") continue;
    if (!FLAGS.includes(token.name)) mistakes.push(`${quote(token.rawName)}: there is no such flag; see --help`);
    else if (token.value === undefined) mistakes.push(`${token.rawName}: a value is missing`);
    else texts.set(token.name, token.value);
  }
  const help = tokens.some((token) => token.kind === "option" && token.name === "help");
  const options = {
    namespace: readValue(texts.get("namespace"), "default", NAMESPACE, mistakes),
    waitMs: readValue(texts.get("wait"), 30_000, WAIT, mistakes),
    kubeconfigFile: texts.get("kubeconfig") ?? "",
  };
  return { options, mistakes, help };
}

const FLAGS: readonly string[] = ["namespace", "wait", "kubeconfig"];

type Kind<T> = {
  readonly flag: string;
  readonly expects: string;
  readonly parse: (text: string) => T | undefined;
};

const NAMESPACE: Kind<string> = {
  flag: "--namespace",
  expects: "a namespace name, lower-case letters, digits and -",
  parse: (text) => (isNamespaceName(text) ? text : undefined),
};

const WAIT: Kind<number> = {
  flag: "--wait",
  expects: "a duration with a unit, such as 30s or 2m",
  parse: parseDurationMs,
};

function readValue<T>(text: string | undefined, fallback: T, kind: Kind<T>, mistakes: string[]): T {
  if (text === undefined) return fallback;
  const value = kind.parse(text);
  if (value === undefined) mistakes.push(`${kind.flag}: got ${quote(text)}, expected ${kind.expects}`);
  return value ?? fallback;
}
