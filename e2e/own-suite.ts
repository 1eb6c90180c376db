/** Runs the suite on the cluster of `npm run cluster`, with the images of this work tree. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildPlace, buildModule } from "./build/build-module.ts";
import { KUBERNETES, type Minor } from "./build/module-table.ts";
import type { Suite } from "./client/suite.ts";
import { NODES } from "./cluster/addresses.ts";
import { WEBHOOK_CLIENT_CA } from "./cluster/certificates.ts";
import { bringDown } from "./cluster/down.ts";
import { stateFolder } from "./cluster/state-folder.ts";
import { readStatus, statusLines } from "./cluster/status.ts";
import { bringUp } from "./cluster/up.ts";
import { exclusively } from "./host/exclusive.ts";
import { prepareMachine } from "./host/prepare-machine.ts";
import { giveImages } from "./images/give-images.ts";

export type OwnSuite = {
  readonly minor: Minor;
  readonly install: boolean;
  /** The repository's folder. */
  readonly root: string;
  readonly artifacts: string;
  /** Folders of PATH. */
  readonly path: readonly string[];
  readonly place: BuildPlace;
};

/** Starts the cluster unless it is running, runs the suite, and stops the cluster only if this call started it. */
export function ownSuite(asked: OwnSuite, run: (suite: Suite) => Promise<number>): Promise<number> {
  return alone(asked.place.print, () => onOwnCluster(asked, run));
}

/** Runs one suite at a time: parallel ones would replace each other's installation and stop the cluster. */
export function alone<T>(print: (line: string) => void, work: () => Promise<T>): Promise<T> {
  return exclusively(stateFolder().suiteLock, work, () => print("Waiting for another suite that uses the cluster."));
}

async function onOwnCluster(asked: OwnSuite, run: (suite: Suite) => Promise<number>): Promise<number> {
  const { minor, place } = asked;
  const state = stateFolder();
  const locked = <T>(work: () => Promise<T>) =>
    exclusively(state.lock, work, () => place.print("Waiting for another command that uses the cluster."));
  await prepareMachine({ install: asked.install, path: asked.path, print: place.print });
  const { record, wasUp } = await locked(() => bringUp(minor, state, place));
  try {
    const { binaries: helm } = await buildModule("helm", place);
    const images = await giveImages(asked.root, state, place.cache);
    for (const line of statusLines(await readStatus(state))) place.print(line);
    return await run({
      kubeconfig: state.kubeconfig,
      context: undefined,
      kubectl: join(record.binaries, "kubectl"),
      helm: join(helm, "helm"),
      nodes: [NODES[0].name, NODES[1].name],
      images,
      webhookClientCa: readFileSync(join(state.pki, `${WEBHOOK_CLIENT_CA}.crt`), "utf8"),
      artifacts: join(asked.artifacts, KUBERNETES[minor]),
    });
  } finally {
    if (!wasUp) await locked(() => bringDown(state));
  }
}
