/** The settings that `npm run e2e` passes to its cases in one environment variable. */
import type { ImageName } from "../images/image-table.ts";
import type { LoadKind } from "../programs/gateway-load-kinds.ts";

export type Suite = {
  readonly kubeconfig: string;
  /** A context of the kubeconfig; by default the current context. */
  readonly context: string | undefined;
  readonly kubectl: string;
  readonly helm: string;
  /** The names of two schedulable nodes. */
  readonly nodes: readonly [string, string];
  readonly images: Readonly<Partial<Record<ImageName, string>>>;
  /** The CA of the API server's client certificate for webhooks; absent on other clusters. */
  readonly webhookClientCa: string | undefined;
  /** Kinds of load on gateways; all kinds by default. */
  readonly loads?: readonly LoadKind[] | undefined;
  /** The folder of the cases' artifacts. */
  readonly artifacts: string;
};

const SUITE_VARIABLE = "LASTCALL_E2E";

export function suiteEnvironment(suite: Suite): Readonly<Record<string, string>> {
  return { [SUITE_VARIABLE]: JSON.stringify(suite) };
}

/** @throws if the cases were not started by `npm run e2e`. */
export function readSuite(env: Readonly<Record<string, string | undefined>>): Suite {
  const text = env[SUITE_VARIABLE];
  if (text === undefined) throw new Error('The variable LASTCALL_E2E is not set. Run the cases with "npm run e2e".');
  return JSON.parse(text);
}

/** @throws with the image's name if it was not built. */
export function imageOf(suite: Suite, name: ImageName): string {
  const image = suite.images[name];
  if (image === undefined) throw new Error(`Image ${name} was not built for this suite.`);
  return image;
}
