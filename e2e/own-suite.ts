/** The suite on the cluster of `npm run cluster`, with the images of this work tree. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildPlace, buildModule } from "./build/build-module.ts";
import { KUBERNETES, type Minor } from "./build/module-table.ts";
import type { Suite } from "./client/suite.ts";
import { exclusively } from "./host/exclusive.ts";
import { prepareMachine } from "./host/prepare-machine.ts";
import { giveImages } from "./images/give-images.ts";
import { NODES } from "./life/addresses.ts";
import { WEBHOOK_CLIENT_CA } from "./life/certificates.ts";
import { bringDown } from "./life/down.ts";
import { stateFolder } from "./life/state-folder.ts";
import { readStatus, statusLines } from "./life/status.ts";
import { bringUp } from "./life/up.ts";

export type OwnSuite = {
  readonly minor: Minor;
  readonly install: boolean;
  /** The repository. */
  readonly root: string;
  readonly artifacts: string;
  /** Folders of PATH. */
  readonly path: readonly string[];
  readonly place: BuildPlace;
};

/** Brings the cluster up unless it is, and afterwards leaves it as it was. One suite at a time. */
export function ownSuite(asked: OwnSuite, run: (suite: Suite) => Promise<number>): Promise<number> {
  return alone(asked.place.say, () => onOwnCluster(asked, run));
}

/** Suites would install over each other, and the first to end would take the cluster along. */
export function alone<T>(say: (line: string) => void, work: () => Promise<T>): Promise<T> {
  return exclusively(stateFolder().suiteLock, work, () => say("Another suite is running on the cluster, waiting."));
}

async function onOwnCluster(asked: OwnSuite, run: (suite: Suite) => Promise<number>): Promise<number> {
  const { minor, place } = asked;
  const state = stateFolder();
  const locked = <T>(work: () => Promise<T>) =>
    exclusively(state.lock, work, () => place.say("Another command is at work on the cluster, waiting."));
  await prepareMachine({ install: asked.install, path: asked.path, say: place.say });
  const { record, wasUp } = await locked(() => bringUp(minor, state, place));
  try {
    const { binaries: helm } = await buildModule("helm", place);
    const images = await giveImages(asked.root, state, place.cache);
    for (const line of statusLines(await readStatus(state))) place.say(line);
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
