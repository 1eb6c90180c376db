/** The processes of clients: started, told what happens, asked what they counted. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { EndpointChange } from "../../../src/demo/network/service-proxy.ts";
import type { NodeMessage, NodeStart } from "./load/client-node.ts";
import type { NodeResult } from "./rollouts-request.ts";

const PROGRAM = join(import.meta.dirname, "load/client-node.ts");

export type ClientNodes = {
  readonly tell: (change: EndpointChange) => void;
  readonly say: (word: "start" | "measure") => void;
  /** Rejects when a node left without its counts. */
  readonly stop: () => Promise<readonly NodeResult[]>;
};

export function startClientNodes(starts: readonly NodeStart[]): ClientNodes {
  const nodes = starts.map((start) =>
    fork(PROGRAM, [JSON.stringify(start)], { stdio: ["ignore", "inherit", "inherit", "ipc"] }),
  );
  const results = nodes.map(resultOf);
  // Waited for at the end; a node that leaves early is told of then.
  for (const result of results) result.catch(() => {});
  let stopped = false;
  const send = (message: NodeMessage) => {
    if (!stopped) for (const node of nodes) if (node.connected) node.send(message);
  };
  return {
    tell: (change) => send({ kind: "endpoint", change }),
    say: (kind) => send({ kind }),
    stop: () => {
      send({ kind: "stop" });
      // A node leaves when it has counted; the Pods' ends are none of its business any more.
      stopped = true;
      return Promise.all(results);
    },
  };
}

function resultOf(node: ChildProcess): Promise<NodeResult> {
  return new Promise((resolve, reject) => {
    node.once("message", (result: NodeResult) => resolve(result));
    node.once("error", reject);
    node.once("exit", (status) => reject(new Error(`a node of clients left early with status ${status}`)));
  });
}
