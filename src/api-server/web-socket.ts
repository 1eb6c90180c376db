/** Imported by file: the package's `PortForward` would pull in all generated APIs, 4 MB. */
export { WebSocketHandler } from "@kubernetes/client-node/dist/web-socket-handler.js";
