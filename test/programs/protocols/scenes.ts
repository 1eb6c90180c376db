/** Every scene, in the order of the table in the docs. */
import { EVENT_STREAM_SCENES } from "./event-stream-scenes.ts";
import { GRPC_SCENES } from "./grpc-scenes.ts";
import { HTTP1_SCENES } from "./http1-scenes.ts";
import { HTTP2_SCENES } from "./http2-scenes.ts";
import type { Scene } from "./scene.ts";
import { TCP_SCENES } from "./tcp-scenes.ts";
import { WEBSOCKET_SCENES } from "./websocket-scenes.ts";

export const SCENES: readonly Scene[] = [
  ...HTTP1_SCENES,
  ...EVENT_STREAM_SCENES,
  ...WEBSOCKET_SCENES,
  ...HTTP2_SCENES,
  ...GRPC_SCENES,
  ...TCP_SCENES,
];
