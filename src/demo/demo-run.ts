/** The whole demo once everything is chosen: the update without lastcall, then the same through the real webhook. */
import { DEFAULT_LOAD, type LoadShape } from "./load/load.ts";
import type { DemoOptions } from "./options.ts";
import { type AdmissionTarget, admitPod } from "./rollout/admission-client.ts";
import type { DemoResult } from "./story/story.ts";
import { verdictOf } from "./story/verdict.ts";
import { runVariant, type VariantPorts, type VariantRequest } from "./variant.ts";

type DemoPorts = Omit<VariantPorts, "admit"> & {
  readonly webhook: AdmissionTarget;
  /** One line of progress. */
  readonly tell: (line: string) => void;
};

export type DemoRequest = {
  readonly deployment: object;
  readonly replicas: number;
  readonly port: number;
  readonly options: DemoOptions;
};

const ENDLESS_CLIENTS = 4;

export async function runDemo(request: DemoRequest, ports: DemoPorts): Promise<DemoResult> {
  const variant: VariantRequest = {
    ...request,
    propagationMs: request.options.propagationMs,
    longRequest: request.options.longRequest,
    load: loadOf(request.options),
  };
  ports.tell("Rolling update without lastcall …");
  const alone = { ...ports, writeSlice: undefined, admit: (pod: object) => Promise.resolve(pod) };
  const without = await runVariant(variant, alone);
  ports.tell(`  ${(without.tookMs / 1_000).toFixed(1)} s. Rolling update with lastcall …`);
  const warned = new Set<string>();
  const withLastcall = await runVariant(variant, {
    ...ports,
    admit: async (pod) => {
      const admitted = await admitPod(pod, ports.webhook);
      for (const warning of admitted.warnings) {
        if (!warned.has(warning)) ports.tell(`  webhook: ${warning}`);
        warned.add(warning);
      }
      return admitted.pod;
    },
  });
  ports.tell(`  ${(withLastcall.tookMs / 1_000).toFixed(1)} s.`);
  const summaries = withLastcall.ended.flatMap((end) => (end.summary === undefined ? [] : [end.summary]));
  const verdict = verdictOf({
    without: without.tally,
    with: withLastcall.tally,
    summaries,
    propagationMs: request.options.propagationMs,
  });
  return { without, with: withLastcall, verdict };
}

function loadOf(options: DemoOptions): LoadShape {
  return {
    ...DEFAULT_LOAD,
    endlessClients: options.endlessClients ? ENDLESS_CLIENTS : 0,
    ...(options.file === "" ? {} : { path: options.path, slowPath: undefined }),
  };
}
