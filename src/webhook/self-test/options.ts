/** The flags of `lastcall self-test`. All mistakes are told at once. */
import { parseArgs } from "node:util";
import { parseDurationMs } from "../../contract/duration.ts";
import { isNamespaceName, LABEL_LIST_EXPECTS, type Labels, parseLabelList } from "../../kubernetes/names.ts";
import { quote } from "../../policy/quote.ts";
import { SETTINGS } from "../settings.ts";

export type SelfTestOptions = {
  readonly namespace: string;
  readonly waitMs: number;
  /** Of the Pods that are asked for. */
  readonly image: string;
  /** Of those Pods, beside the one that opts in or out. */
  readonly labels: Labels;
  /** A Pod is also started, with this image in every container. */
  readonly startsPod: boolean;
  /** Empty: the account of the Pod this process runs in. */
  readonly kubeconfigFile: string;
};

type ReadOptions = {
  readonly options: SelfTestOptions;
  readonly mistakes: readonly string[];
  readonly help: boolean;
};

export const SELF_TEST_HELP = [
  "lastcall self-test [flags]",
  "",
  "Asks the API server for two dry-run Pods: one that opted in must come back injected, one that opted out must not.",
  "With --start it then starts a Pod, whose manager must be pulled and run; the Pod is deleted afterwards.",
  "",
  "  --namespace NAME     where; not a namespace that is never injected (default: default)",
  "  --wait DURATION      how long to try (default: 30s)",
  "  --image IMAGE        of the Pods; with --start that of the manager (default: one that nothing pulls)",
  "  --labels LABELS      of the Pods, such as team=web,tier=front (default: none but the one that opts in)",
  "  --start              start a Pod too",
  "  --kubeconfig FILE    the cluster (default: the one this Pod runs in)",
  "",
].join("\n");

export function readOptions(args: readonly string[]): ReadOptions {
  const mistakes: string[] = [];
  const texts = new Map<string, string>();
  const strings = Object.fromEntries(FLAGS.map((flag) => [flag, { type: "string" as const }]));
  const options = { ...strings, start: { type: "boolean" as const } };
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === "positional") mistakes.push(`${quote(token.value)}: no word is expected here, only flags`);
    if (token.kind !== "option" || token.name === "help" || token.name === "start") continue;
    if (!FLAGS.includes(token.name)) mistakes.push(`${quote(token.rawName)}: there is no such flag; see --help`);
    else if (token.value === undefined) mistakes.push(`${token.rawName}: a value is missing`);
    else texts.set(token.name, token.value);
  }
  const isSaid = (name: string) => tokens.some((token) => token.kind === "option" && token.name === name);
  const read = {
    namespace: readValue(texts.get("namespace"), "default", NAMESPACE, mistakes),
    waitMs: readValue(texts.get("wait"), 30_000, WAIT, mistakes),
    image: readValue(texts.get("image"), UNPULLED_IMAGE, IMAGE, mistakes),
    labels: readValue(texts.get("labels"), {}, LABELS, mistakes),
    startsPod: isSaid("start"),
    kubeconfigFile: texts.get("kubeconfig") ?? "",
  };
  if (read.startsPod && read.image === UNPULLED_IMAGE) mistakes.push("--start: needs --image, the manager's image");
  return { options: read, mistakes, help: isSaid("help") };
}

const FLAGS: readonly string[] = ["namespace", "wait", "image", "labels", "kubeconfig"];

/** Dry runs are never scheduled. */
const UNPULLED_IMAGE = "lastcall-self-test:never-pulled";

const IMAGE: Kind<string> = {
  flag: "--image",
  expects: SETTINGS.image.expects,
  parse: SETTINGS.image.parse,
};

const LABELS: Kind<Labels> = {
  flag: "--labels",
  expects: LABEL_LIST_EXPECTS,
  parse: parseLabelList,
};

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
