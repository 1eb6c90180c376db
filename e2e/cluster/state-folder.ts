/** Defines the paths of a cluster's state. A user can run one cluster per host, because its addresses are fixed. */
import { userInfo } from "node:os";
import { join } from "node:path";

export type StateFolder = {
  readonly root: string;
  readonly recordFile: string;
  /** Held while the cluster starts or stops. */
  readonly lockFile: string;
  /** Held while a suite runs on the cluster. */
  readonly suiteLockFile: string;
  readonly logFolder: string;
  /** The logs of the last failed start. */
  readonly failedLogFolder: string;
  readonly pkiFolder: string;
  readonly startFolder: string;
  readonly kubeconfig: string;
  /** The command-line client of containerd. */
  readonly ctr: string;
  readonly socketOf: (node: string) => string;
  /** The folder of the node's static Pods. */
  readonly staticPodsOf: (node: string) => string;
};

/** The folder is in /tmp, because a socket's path is limited to 107 characters. The locks are beside it and outlive the cluster. */
export function stateFolder(): StateFolder {
  const root = `/tmp/lastcall-cluster-${userInfo().username}`;
  return {
    root,
    recordFile: join(root, "cluster.json"),
    lockFile: `${root}.lock`,
    suiteLockFile: `${root}.suite.lock`,
    logFolder: join(root, "log"),
    failedLogFolder: `${root}.failed-log`,
    pkiFolder: join(root, "pki"),
    startFolder: join(root, "start"),
    kubeconfig: join(root, "pki/admin.kubeconfig"),
    ctr: join(root, "ctr"),
    socketOf: (node) => join(root, node, "containerd.sock"),
    staticPodsOf: (node) => join(root, node, "static-pods"),
  };
}
