/** Which ports the kubelet itself connects to, so that the drain does not take its probes for traffic. */
import type { KubeletProbe } from "../contract/drain-settings.ts";
import { lastingContainersOf } from "../kubernetes/pod.ts";
import { objectAt, type RawObject, textAt, wholeNumberAt } from "../kubernetes/raw-json.ts";
import { portNumberOf } from "./free-port.ts";
import { writableMs } from "./grace.ts";

const DEFAULT_PERIOD_SECONDS = 10;

/** One entry per probe and port, in the order of the Pod: two probes of one port connect twice as often. */
export function kubeletProbesOf(pod: RawObject): readonly KubeletProbe[] {
  return lastingContainersOf(pod).flatMap((container) =>
    ["livenessProbe", "readinessProbe", "startupProbe"].flatMap((name) =>
      probeOf(container, objectAt(container, name)),
    ),
  );
}

function probeOf(container: RawObject, probe: RawObject | undefined): readonly KubeletProbe[] {
  const action = objectAt(probe, "httpGet") ?? objectAt(probe, "tcpSocket") ?? objectAt(probe, "grpc");
  // A probe with a host of its own goes somewhere else than this Pod.
  if (action === undefined || (textAt(action, "host") ?? "") !== "") return [];
  const port = portNumberOf(container, action["port"]);
  if (port === undefined) return [];
  const periodSeconds = wholeNumberAt(probe, "periodSeconds") ?? 0;
  return [{ port, periodMs: writableMs((periodSeconds > 0 ? periodSeconds : DEFAULT_PERIOD_SECONDS) * 1_000) }];
}
