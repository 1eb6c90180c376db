/** The flags of `lastcall self-test`. */
import { helpRows, type ReadSettings, readByTable, type SettingProblem } from "../../settings/read-settings.ts";
import {
  fileSetting,
  namespaceSetting,
  type Setting,
  switchSetting,
  type ValuesOf,
  waitSetting,
} from "../../settings/setting.ts";
import { PROOF_LABELS, SETTINGS } from "../settings.ts";

/** Dry runs are never scheduled. */
const UNPULLED_IMAGE = "lastcall-self-test:never-pulled";

const IMAGE: Setting<string> = {
  ...SETTINGS.image,
  fallback: UNPULLED_IMAGE,
  fallbackShows: "one that nothing pulls",
  summary: "of the Pods; with --start that of the manager",
};

const LABELS = { ...PROOF_LABELS, flag: "labels", summary: "of the Pods, such as team=web,tier=front" };

const OPTIONS = {
  namespace: namespaceSetting("namespace", "default", "where; not a namespace that is never injected"),
  waitMs: waitSetting("wait", 30_000, "how long to try"),
  image: IMAGE,
  /** Beside the one that opts in or out. */
  labels: LABELS,
  startsPod: switchSetting("start", "start a Pod too"),
  kubeconfigFile: fileSetting("kubeconfig", "the one this Pod runs in", "the cluster"),
} as const;

export type SelfTestOptions = ValuesOf<typeof OPTIONS>;

export const SELF_TEST_HELP = [
  "lastcall self-test [flags]",
  "",
  "Asks the API server for two dry-run Pods: one that opted in must come back injected, one that opted out must not.",
  "With --start it then starts a Pod, whose manager must be pulled and run; the Pod is deleted afterwards.",
  "",
  helpRows(OPTIONS),
].join("\n");

export function readOptions(args: readonly string[]): ReadSettings<typeof OPTIONS> {
  const read = readByTable(OPTIONS, args);
  const { startsPod, image } = read.settings;
  const together: readonly SettingProblem[] =
    startsPod && image === UNPULLED_IMAGE
      ? [{ where: "--start", message: "It needs --image, the manager's image." }]
      : [];
  return { ...read, problems: [...read.problems, ...together] };
}
