/** Where a cluster keeps what it is. One per user and machine: its addresses are fixed. */
import { userInfo } from "node:os";
import { join } from "node:path";

export type StateFolder = {
  readonly root: string;
  readonly record: string;
  /** Held while the cluster is brought up or down. */
  readonly lock: string;
  /** Held while a suite runs on it. */
  readonly suiteLock: string;
  readonly log: string;
  /** The logs of the last cluster that did not come up. */
  readonly failedLog: string;
  readonly pki: string;
  readonly start: string;
  readonly kubeconfig: string;
  /** containerd's client, of the build that runs. */
  readonly ctr: string;
  readonly socketOf: (node: string) => string;
  /** A Pod's file in it makes the node's kubelet run it. */
  readonly staticPodsOf: (node: string) => string;
};

/** In /tmp, because the path of a socket may have 107 characters at most. The locks outlive the cluster beside it. */
export function stateFolder(): StateFolder {
  const root = `/tmp/lastcall-cluster-${userInfo().username}`;
  return {
    root,
    record: join(root, "cluster.json"),
    lock: `${root}.lock`,
    suiteLock: `${root}.suite.lock`,
    log: join(root, "log"),
    failedLog: `${root}.failed-log`,
    pki: join(root, "pki"),
    start: join(root, "start"),
    kubeconfig: join(root, "pki/admin.kubeconfig"),
    ctr: join(root, "ctr"),
    socketOf: (node) => join(root, node, "containerd.sock"),
    staticPodsOf: (node) => join(root, node, "static-pods"),
  };
}
