/** Defines the result of one scenario with a real Envoy, which is one line of the results file. */

export type EnvoyResult = {
  readonly kind: "envoy";
  /** Scenario, version of Envoy and build of the manager; unique among the results. */
  readonly system: string;
  readonly scenario: string;
  readonly version: string;
  readonly manager: "native" | "node";
  readonly releasedSeconds: number;
  readonly afterTrafficSeconds: number;
  /** Time from the drain's expected end to Envoy's stop signal; negative if the signal came before the expected end. */
  readonly overWaitSeconds: number;
  /** Time from the end of the drain delay to the last traffic, minus the scheduling lag in that interval. */
  readonly stayedSeconds: number;
  /** Time in which this process, the manager or Envoy waited for a processor. */
  readonly lagSeconds: number;
  /** Response status of the hook of Envoy's container; -1 without a response. */
  readonly hookStatus: number;
  readonly hooksFailed: number;
  readonly answered: number;
  /** Failed requests and sessions, without the sessions counted in `cut`. */
  readonly failures: readonly string[];
  /** Requests refused with REFUSED_STREAM and retried on another connection. */
  readonly refused: number;
  /** Sessions that Envoy's stop closed. */
  readonly cut: number;
  readonly outcome: string;
  readonly why: string;
  readonly managerPeakKib: number;
};

export function systemOf(result: Pick<EnvoyResult, "scenario" | "version" | "manager">): string {
  return `${result.scenario}, Envoy ${result.version}, ${result.manager}`;
}
