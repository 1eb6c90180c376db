/** Implements `lastcall self-test`, which the chart's test Pod runs with its own ServiceAccount. */
import { setTimeout as sleep } from "node:timers/promises";
import { createApiClient } from "../../api-server/api-client.ts";
import { loadKubeConfig } from "../../api-server/load-kube-config.ts";
import { formatDuration } from "../../contract/duration.ts";
import { EXIT_FAULT, EXIT_OK, EXIT_USAGE } from "../../contract/exit-codes.ts";
import { Fault } from "../../fault.ts";
import {
  helpRows,
  problemText,
  type ReadSettings,
  readByTable,
  type SettingProblem,
} from "../../settings/read-settings.ts";
import {
  fileSetting,
  namespaceSetting,
  type Setting,
  switchSetting,
  type ValuesOf,
  waitSetting,
} from "../../settings/setting.ts";
import { PROOF_LABELS, SETTINGS } from "../settings.ts";
import { runSelfTest } from "./self-test.ts";

export async function main(args: readonly string[]): Promise<number> {
  const { settings, problems, help } = readOptions(args);
  if (help) {
    process.stdout.write(SELF_TEST_HELP);
    return EXIT_OK;
  }
  for (const problem of problems) process.stderr.write(`lastcall self-test: ${problemText(problem)}\n`);
  if (problems.length > 0) return EXIT_USAGE;
  try {
    return (await run(settings)) ? EXIT_OK : EXIT_FAULT;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    process.stderr.write(`lastcall self-test: ${error.message}\n`);
    return EXIT_FAULT;
  }
}

async function run(options: SelfTestOptions): Promise<boolean> {
  const api = createApiClient(await loadKubeConfig({ kubeconfigFile: options.kubeconfigFile }));
  try {
    const isInjecting = await runSelfTest(options, {
      request: api.request,
      sleep: (ms) => sleep(ms),
      nowMs: () => performance.now(),
      report: (sentence) => void process.stderr.write(`lastcall self-test: ${sentence}\n`),
    });
    if (isInjecting) process.stdout.write(`${proofOf(options)}\n`);
    else process.stderr.write(`lastcall self-test: injection did not work within ${formatDuration(options.waitMs)}.\n`);
    return isInjecting;
  } finally {
    api.close();
  }
}

function proofOf({ namespace, startsPod }: SelfTestOptions): string {
  const injectionSentence = `A Pod that opts in is injected in namespace ${namespace}, and one that opts out is not.`;
  return startsPod
    ? `${injectionSentence}\nThe manager's image was pulled in this namespace, and its container runs.`
    : injectionSentence;
}

const UNPULLED_IMAGE = "lastcall-self-test:never-pulled";

const IMAGE: Setting<string> = {
  ...SETTINGS.image,
  fallback: UNPULLED_IMAGE,
  defaultText: "an image that is never pulled",
  summary: "image of the Pods; with --start, the image of the manager",
};

const LABELS = { ...PROOF_LABELS, flag: "labels", summary: "labels of the Pods, such as team=web,tier=front" };

const OPTIONS = {
  namespace: namespaceSetting("namespace", "default", "namespace of the Pods; must not be a system namespace"),
  waitMs: waitSetting("wait", 30_000, "how long the self-test waits for injection to work"),
  image: IMAGE,
  labels: LABELS,
  startsPod: switchSetting("start", "also start a Pod"),
  kubeconfigFile: fileSetting("kubeconfig", "the Pod's ServiceAccount", "kubeconfig file for the API server"),
} as const;

export type SelfTestOptions = ValuesOf<typeof OPTIONS>;

export const SELF_TEST_HELP = [
  "lastcall self-test [flags]",
  "",
  "Creates two Pods in dry runs: one that opts in must be injected, one that opts out must not.",
  "With --start it then starts a Pod, whose node must pull and run the manager's image; the Pod is deleted afterwards.",
  "",
  helpRows(OPTIONS),
].join("\n");

export function readOptions(args: readonly string[]): ReadSettings<typeof OPTIONS> {
  const reading = readByTable(OPTIONS, args);
  const { startsPod, image } = reading.settings;
  const combinationProblems: readonly SettingProblem[] =
    startsPod && image === UNPULLED_IMAGE
      ? [{ where: "--start", message: "Requires --image, the manager's image." }]
      : [];
  return { ...reading, problems: [...reading.problems, ...combinationProblems] };
}
