/** Re-exports one file of the package, because its `PortForward` would import all generated APIs, 4 MB. */
export { WebSocketHandler } from "@kubernetes/client-node/dist/web-socket-handler.js";
