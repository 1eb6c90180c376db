/**
 * Every rule of lint, and nothing about it anywhere else.
 *
 * Readers of this table: the linter, its reports (text, SARIF, annotations) and the reference page.
 */
import type { Rule } from "./rule.ts";
import { BUDGET_BLOCKS_EVICTION, ROLLOUT_STOPS_ALL } from "./rules/availability.ts";
import { KEPT_STREAMS, NO_TIME_FOR_ENDPOINTS } from "./rules/endpoints.ts";
import { GRACE_BELOW_INGRESS_TIMEOUT, NO_GRACE, SLEEP_EXCEEDS_GRACE } from "./rules/grace.ts";
import { HOOK_PORT, HOOK_TCP_SOCKET, HOOK_WITHOUT_SHELL } from "./rules/hooks.ts";
import { LIVENESS_KILLS, NO_READINESS } from "./rules/probes.ts";
import { LASTCALL_SETTING } from "./rules/settings.ts";
import { SHELL_HIDES_SIGNALS, STOP_SIGNAL } from "./rules/signals.ts";

export const RULES: readonly Rule[] = [
  NO_TIME_FOR_ENDPOINTS,
  NO_GRACE,
  SLEEP_EXCEEDS_GRACE,
  GRACE_BELOW_INGRESS_TIMEOUT,
  LIVENESS_KILLS,
  SHELL_HIDES_SIGNALS,
  STOP_SIGNAL,
  ROLLOUT_STOPS_ALL,
  NO_READINESS,
  BUDGET_BLOCKS_EVICTION,
  HOOK_TCP_SOCKET,
  HOOK_PORT,
  HOOK_WITHOUT_SHELL,
  KEPT_STREAMS,
  LASTCALL_SETTING,
];
