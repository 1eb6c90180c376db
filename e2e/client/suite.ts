/** What `npm run e2e` hands to its cases, as one variable of their environment. */
import type { ImageName } from "../images/image-table.ts";

export type Suite = {
  readonly kubeconfig: string;
  /** Name of a context in it; without one its own choice. */
  readonly context: string | undefined;
  readonly kubectl: string;
  readonly helm: string;
  /** Names of two nodes that take Pods. */
  readonly nodes: readonly [string, string];
  readonly images: Readonly<Partial<Record<ImageName, string>>>;
  /** The CA of the certificate that the API server shows to lastcall's webhook; none on clusters that others run. */
  readonly webhookClientCa: string | undefined;
  /** Folder for what the cases leave to be read. */
  readonly artifacts: string;
};

const VARIABLE = "LASTCALL_E2E";

export function suiteEnvironment(suite: Suite): Readonly<Record<string, string>> {
  return { [VARIABLE]: JSON.stringify(suite) };
}

/** @throws when the cases were not started by `npm run e2e`. */
export function readSuite(env: Readonly<Record<string, string | undefined>>): Suite {
  const text = env[VARIABLE];
  if (text === undefined) throw new Error('Cases on a cluster are started by "npm run e2e".');
  return JSON.parse(text);
}

/** @throws naming the image when it could not be made. */
export function imageOf(suite: Suite, name: ImageName): string {
  const image = suite.images[name];
  if (image === undefined) throw new Error(`There is no image ${name}: what it carries was not there to be packed.`);
  return image;
}
