/** Records the exits of containers from the events of the nodes' containerd, because the API has their times in seconds only. */
import { stateFolder } from "../cluster/state-folder.ts";
import { follow } from "../host/run.ts";
import type { Suite } from "./suite.ts";

export type ContainerExits = {
  /** @returns `undefined` while the container has not exited */
  readonly exitMsOf: (container: string) => number | undefined;
  readonly stop: () => void;
};

export function observeExits(suite: Suite): ContainerExits {
  const exits = new Map<string, number>();
  const eventReaders = suite.nodes.map((node) => {
    const args = ["--address", stateFolder().socketOf(node), "--namespace", "k8s.io", "events"];
    return follow(stateFolder().ctr, args, (line) => recordExit(line, exits));
  });
  return {
    exitMsOf: (container) => exits.get(container),
    stop: () => {
      for (const child of eventReaders) child.kill();
    },
  };
}

/** Parses a line of `ctr events`: time, namespace, topic and JSON. The exit of a container's main process has the container's id. */
function recordExit(line: string, exits: Map<string, number>): void {
  const [, json = ""] = line.split(" /tasks/exit ");
  if (json === "") return;
  const { container_id: container, id, exited_at: exitedAt } = JSON.parse(json) as Record<string, unknown>;
  if (typeof container !== "string" || container !== id) return;
  exits.set(container, typeof exitedAt === "string" ? Date.parse(exitedAt) : Date.now());
}
