/** Runs the suite on the cluster of `npm run cluster`, with the images of this work tree. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildContext, buildModule } from "./build/build-module.ts";
import { KUBERNETES_VERSIONS } from "./build/module-table.ts";
import type { Suite } from "./client/suite.ts";
import { NODES } from "./cluster/addresses.ts";
import { WEBHOOK_CLIENT_CA } from "./cluster/certificates.ts";
import { stopCluster } from "./cluster/down.ts";
import type { ClusterSettings } from "./cluster/record.ts";
import { stateFolder } from "./cluster/state-folder.ts";
import { readStatus, statusLines } from "./cluster/status.ts";
import { ensureCluster } from "./cluster/up.ts";
import { withFileLock } from "./host/file-lock.ts";
import { prepareMachine } from "./host/prepare-machine.ts";
import { buildAndImportImages } from "./images/build-and-import.ts";

export type OwnSuiteOptions = {
  readonly settings: ClusterSettings;
  readonly install: boolean;
  /** The repository's folder. */
  readonly root: string;
  readonly artifacts: string;
  /** Folders of PATH. */
  readonly path: readonly string[];
  readonly buildContext: BuildContext;
};

/** Starts the cluster unless it is running, runs the suite, and stops the cluster only if this call started it. */
export function runOnOwnCluster(options: OwnSuiteOptions, run: (suite: Suite) => Promise<number>): Promise<number> {
  return runOneSuiteAtATime(options.buildContext.print, () => startClusterAndRun(options, run));
}

/** Runs one suite at a time: concurrent suites would replace each other's installation and stop each other's cluster. */
export function runOneSuiteAtATime<T>(print: (line: string) => void, work: () => Promise<T>): Promise<T> {
  return withFileLock(stateFolder().suiteLockFile, work, () =>
    print("Waiting for another suite that uses the cluster."),
  );
}

async function startClusterAndRun(options: OwnSuiteOptions, run: (suite: Suite) => Promise<number>): Promise<number> {
  const { settings, buildContext } = options;
  const state = stateFolder();
  const withClusterLock = <T>(work: () => Promise<T>) =>
    withFileLock(state.lockFile, work, () => buildContext.print("Waiting for another command that uses the cluster."));
  await prepareMachine({ installsPackages: options.install, pathFolders: options.path, print: buildContext.print });
  const { record, wasRunning: wasUp } = await withClusterLock(() => ensureCluster(settings, state, buildContext));
  try {
    const { binaries: helm } = await buildModule("helm", buildContext);
    const images = await buildAndImportImages(options.root, state, buildContext.cache);
    for (const line of statusLines(await readStatus(state))) buildContext.print(line);
    return await run({
      kubeconfig: state.kubeconfig,
      context: undefined,
      kubectl: join(record.binaries, "kubectl"),
      helm: join(helm, "helm"),
      nodes: [NODES[0].name, NODES[1].name],
      images,
      webhookClientCa: readFileSync(join(state.pkiFolder, `${WEBHOOK_CLIENT_CA}.crt`), "utf8"),
      artifacts: join(options.artifacts, KUBERNETES_VERSIONS[settings.minor]),
    });
  } finally {
    if (!wasUp) await withClusterLock(() => stopCluster(state));
  }
}
