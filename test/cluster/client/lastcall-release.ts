/** lastcall installed by its chart, as a user would. */
import { join } from "node:path";
import { run } from "../host/run.ts";
import { imageOf, type Suite } from "./suite.ts";

const CHART = join(import.meta.dirname, "../../../charts/lastcall");
const RELEASE = "lastcall";

export type ReleaseOptions = {
  /** Which build of the manager Pods get. */
  readonly manager?: "lastcall-manager" | "lastcall-manager-node";
  /** Further `--set` arguments, for example `failurePolicy=Fail`. */
  readonly set?: readonly string[];
};

/** Installs or upgrades and waits until the webhook is ready. Rejects with helm's own words. */
export async function installLastcall(suite: Suite, options: ReleaseOptions = {}): Promise<void> {
  const webhook = splitImage(imageOf(suite, "lastcall-webhook"));
  const manager = splitImage(imageOf(suite, options.manager ?? "lastcall-manager"));
  const values = [
    `image.registry=${webhook.registry}`,
    ...[`repository=${webhook.repository}`, `tag=${webhook.tag}`].map((value) => `image.webhook.${value}`),
    ...[`repository=${manager.repository}`, `tag=${manager.tag}`].map((value) => `image.manager.${value}`),
    ...(options.set ?? []),
  ];
  await helm(suite, [
    ...["upgrade", "--install", RELEASE, CHART, "--namespace", RELEASE, "--create-namespace"],
    ...["--wait", "--timeout", "120s"],
    ...values.flatMap((value) => ["--set", value]),
  ]);
}

export async function uninstallLastcall(suite: Suite): Promise<void> {
  await helm(suite, ["uninstall", RELEASE, "--namespace", RELEASE, "--ignore-not-found", "--wait"]);
}

function helm(suite: Suite, args: readonly string[]): Promise<string> {
  const context = suite.context === undefined ? [] : ["--kube-context", suite.context];
  return run(suite.helm, ["--kubeconfig", suite.kubeconfig, ...context, ...args]);
}

/** `registry/…/name:tag`; the tag's colon comes after the last slash, a registry's port before it. */
function splitImage(image: string) {
  const [, registry = "", repository = "", tag = ""] = /^(.*)\/([^/:]+):([^/:]+)$/.exec(image) ?? [];
  return { registry, repository, tag };
}
