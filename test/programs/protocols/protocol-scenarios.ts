/** Lists all scenarios, in the order of the table in docs/protocols.md. */
import { EVENT_STREAM_SCENARIOS } from "./event-stream-scenarios.ts";
import { GRPC_SCENARIOS } from "./grpc-scenarios.ts";
import { HTTP1_SCENARIOS } from "./http1-scenarios.ts";
import { HTTP2_SCENARIOS } from "./http2-scenarios.ts";
import type { Scenario } from "./protocol-scenario.ts";
import { TCP_SCENARIOS } from "./tcp-scenarios.ts";
import { WEBSOCKET_SCENARIOS } from "./websocket-scenarios.ts";

export const SCENARIOS: readonly Scenario[] = [
  ...HTTP1_SCENARIOS,
  ...EVENT_STREAM_SCENARIOS,
  ...WEBSOCKET_SCENARIOS,
  ...HTTP2_SCENARIOS,
  ...GRPC_SCENARIOS,
  ...TCP_SCENARIOS,
];
