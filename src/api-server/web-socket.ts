/** The client's WebSocket by its file: its class `PortForward` would add all generated APIs, 4 MB, to a release. */
export { WebSocketHandler } from "@kubernetes/client-node/dist/web-socket-handler.js";
