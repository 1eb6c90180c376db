/** The one thing that is used of a package of 16 MB: named here, a release leaves the rest out. */
export { KubeConfig } from "@kubernetes/client-node";
