/** One look at the drains of a source, and the connection that several looks share. */
import type { DrainRecord } from "../../drain-history/drain-record.ts";
import type { Ports } from "../ports.ts";
import { clusterDrains } from "./cluster-drains.ts";
import type { DrainsRequest } from "./drains-request.ts";
import { fileDrains } from "./file-drains.ts";

export type Look =
  | {
      readonly ok: true;
      readonly lists: readonly (readonly DrainRecord[])[];
      /** A sentence for each replica that did not answer, and for whatever else is missing. */
      readonly problems: readonly string[];
    }
  | {
      readonly ok: false;
      readonly problems: readonly string[];
    };

export type Looking = { readonly look: (signal: AbortSignal) => Promise<Look>; readonly close: () => void };

export async function openLooking(request: DrainsRequest, ports: Ports): Promise<Looking> {
  const { source, namespace } = request;
  if (source.kind === "file") {
    const look = async (): Promise<Look> => {
      const read = await fileDrains(source.path, ports);
      if (!read.ok) return { ok: false, problems: [read.message] };
      const wanted = read.drains.filter((drain) => namespace === undefined || drain.namespace === namespace);
      return { ok: true, lists: [wanted], problems: read.problems };
    };
    return { look, close: () => undefined };
  }
  const connected = await ports.drains.connect(source.choice);
  if (!connected.ok) {
    const { message } = connected;
    return { look: async () => ({ ok: false, problems: [message] }), close: () => undefined };
  }
  const look = async (signal: AbortSignal): Promise<Look> => {
    const { lastcallNamespace } = source;
    const { lists, problems } = await clusterDrains(connected, { lastcallNamespace, namespace, signal });
    if (lists.length > 0) return { ok: true, lists, problems };
    const unanswered = `no replica of lastcall at ${connected.server} told its drains. ${whatToCheck(lastcallNamespace)}`;
    return { ok: false, problems: [...problems, unanswered] };
  };
  return { look, close: connected.close };
}

function whatToCheck(namespace = "lastcall"): string {
  return (
    "Check that the chart's relay is enabled and relay.adminPort is not 0, and that you may list Pods and get and create " +
    `pods/portforward where lastcall runs (kubectl auth can-i create pods/portforward --namespace ${namespace})`
  );
}
