/** What a scene before a real Envoy measured: one line of the results. */

export type EnvoyResult = {
  readonly kind: "envoy";
  /** Scene, version and build of the manager together: no two results share it. */
  readonly system: string;
  readonly scene: string;
  readonly version: string;
  readonly manager: "native" | "node";
  /** From the deletion to Envoy's stop signal, */
  readonly releasedSeconds: number;
  /** from the last traffic until then, */
  readonly afterTrafficSeconds: number;
  /** and how much later that was than the settings ask for. Negative: too early. */
  readonly overWaitSeconds: number;
  /** From the end of the delay to the last traffic, less the lag meanwhile: how long those who were told stayed. */
  readonly stayedSeconds: number;
  /** How long the machine kept from their turn those who measured and were measured meanwhile, in all. */
  readonly lagSeconds: number;
  /** The status of Envoy's hook, and whether the kubelet took any hook for failed. */
  readonly hookStatus: number;
  readonly hooksFailed: number;
  readonly answered: number;
  /** Before the release, or by anybody who could have been spared. */
  readonly failures: readonly string[];
  /** Not begun, told so, and asked again on another connection. */
  readonly refused: number;
  /** Sessions that the end of Envoy cut. */
  readonly cut: number;
  readonly outcome: string;
  readonly why: string;
  readonly managerPeakKib: number;
};

export function systemOf(result: Pick<EnvoyResult, "scene" | "version" | "manager">): string {
  return `${result.scene}, Envoy ${result.version}, ${result.manager}`;
}
