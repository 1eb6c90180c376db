/** Imports archives into a node's container runtime. */

import { stateFolder } from "../cluster/state-folder.ts";
import { attempt, run } from "../host/run.ts";
import { waitUntil } from "../host/wait.ts";

/** The containerd namespace of kubelets. */
const KUBELET_NAMESPACE_FLAGS = ["--namespace", "k8s.io"];

/** Waits until the container runtime answers on its socket, then imports every image of the files. */
export async function importImages(files: readonly string[], socket: string): Promise<void> {
  await waitUntil({ condition: `containerd answers on ${socket}`, withinMs: 30_000 }, async () =>
    (await attempt(stateFolder().ctr, ["--address", socket, "version"])).status === 0 ? true : undefined,
  );
  for (const file of files)
    await run(stateFolder().ctr, ["--address", socket, ...KUBELET_NAMESPACE_FLAGS, "images", "import", file]);
}

/** Adds a second name to an imported image. */
export async function tagImage(socket: string, image: string, name: string): Promise<void> {
  await run(stateFolder().ctr, [
    "--address",
    socket,
    ...KUBELET_NAMESPACE_FLAGS,
    "images",
    "tag",
    "--force",
    image,
    name,
  ]);
}
