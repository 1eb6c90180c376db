/** Re-exports the one used class of a 16 MB package, so that the bundler omits the rest. */
export { KubeConfig } from "@kubernetes/client-node";
