/** Starts one process for each simulated client node, sends them endpoint changes and commands, and receives their counts. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { EndpointChange } from "../../../src/demo/network/service-proxy.ts";
import type { NodeMessage, NodeStart } from "./load/client-node.ts";
import type { NodeResult } from "./rollouts-request.ts";

const PROGRAM = join(import.meta.dirname, "load/client-node.ts");

export type ClientNodes = {
  readonly sendChange: (change: EndpointChange) => void;
  readonly send: (command: "start" | "measure") => void;
  /** Stops the processes and resolves with their counts. Rejects if a process exits without sending its counts. */
  readonly stop: () => Promise<readonly NodeResult[]>;
};

export function startClientNodes(nodeStarts: readonly NodeStart[]): ClientNodes {
  const nodes = nodeStarts.map((start) =>
    fork(PROGRAM, [JSON.stringify(start)], { stdio: ["ignore", "inherit", "inherit", "ipc"] }),
  );
  const results = nodes.map(receiveResult);
  for (const result of results) result.catch(() => {});
  let isStopped = false;
  const send = (message: NodeMessage) => {
    if (!isStopped) for (const node of nodes) if (node.connected) node.send(message);
  };
  return {
    sendChange: (change) => send({ kind: "endpoint", change }),
    send: (kind) => send({ kind }),
    stop: () => {
      send({ kind: "stop" });
      // The process of a simulated node exits after it has sent its counts, so it must not receive further endpoint changes.
      isStopped = true;
      return Promise.all(results);
    },
  };
}

function receiveResult(node: ChildProcess): Promise<NodeResult> {
  return new Promise((resolve, reject) => {
    node.once("message", (result: NodeResult) => resolve(result));
    node.once("error", reject);
    node.once("exit", (status) =>
      reject(new Error(`a client process exited with status ${status} before it sent its counts`)),
    );
  });
}
