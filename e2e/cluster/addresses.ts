/** Defines the names and addresses of the cluster. All are in its own network namespaces, except one end of a veth pair. */

export const NODES = [
  { name: "n1", number: 1, address: "10.77.0.11" },
  { name: "n2", number: 2, address: "10.77.0.12" },
] as const;
export type ClusterNode = (typeof NODES)[number];

/** The host's end of the veth pair, at which the cluster reaches processes of the host, for example a webhook. */
export const HOST_INTERFACE = "lastcall0";
export const HOST_ADDRESS = "10.77.0.1";
export const API_SERVER_URL = `https://${NODES[0].address}:6443`;

export const POD_NETWORK = "10.244.0.0/16";
export const SERVICE_NETWORK = "10.96.0.0/16";
export const API_SERVICE_ADDRESS = "10.96.0.1";
export const DNS_SERVICE_ADDRESS = "10.96.0.10";

export function podNetworkOf(node: ClusterNode): string {
  return `10.244.${node.number}.0/24`;
}

/** The parent of every Pod's cgroup; it has no other members. */
export const PODS_CGROUP = "lastcall-cluster";
