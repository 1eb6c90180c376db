/** Serves certificate files that another program renews, and publishes their CAs in every webhook. */
import { reconcile } from "../../authority/reconcile.ts";
import { Fault } from "../../fault.ts";
import type { Moment } from "./authority.ts";
import { decideExternal, type ExternalMemory, isTrustedBy } from "./external-bundle.ts";
import type { ExternalPair } from "./external-pair.ts";
import { type CertificateSource, complaintAbout } from "./source.ts";
import { type BundlePorts, publishBundle, readExisting } from "./webhook-configurations.ts";

export type ExternalPorts = BundlePorts & {
  /** Rejects with a Fault when the files are not usable now. */
  readonly read: () => Promise<ExternalPair>;
  readonly now: () => Moment;
  readonly settleMs: number;
};

/** @throws Fault ERR_CERTIFICATE_UNREADABLE when the files are unusable at the start */
export async function externalSource(ports: ExternalPorts): Promise<CertificateSource> {
  let memory: ExternalMemory = { serving: await ports.read(), foreignSince: new Map(), waiting: undefined };
  let distrust = "the webhook configuration was not read yet";
  let failure = "";
  let wasRead = false;

  const publish = async (offered: ExternalPair): Promise<void> => {
    await reconcile({
      what: "the webhook configuration",
      read: async () => ({ moment: ports.now(), configuration: await readExisting(ports.configurations) }),
      decide: ({ moment, configuration: { bundles } }) => {
        const decided = decideExternal({ moment, bundles, offered }, memory, ports.settleMs);
        memory = decided.memory;
        wasRead = true;
        distrust = isTrustedBy(bundles, memory.serving)
          ? ""
          : "the webhook configuration does not trust the certificate";
        return decided.publish;
      },
      write: (bundle, { configuration }) => publishBundle(ports, configuration, bundle),
    });
  };

  return {
    current: () => memory.serving,
    complaint: (nowMs) => {
      if (!wasRead && failure !== "") return failure;
      return distrust === "" ? complaintAbout(memory.serving, nowMs) : distrust;
    },
    refresh: async () => {
      const before = memory.serving;
      const read = await ports.read().then(
        (pair) => ({ pair, fault: undefined }),
        // Bundles still have to trust the pair in use.
        (error: unknown) => ({ pair: before, fault: asFault(error) }),
      );
      const fault = await publish(read.pair).then(
        () => read.fault,
        (error: unknown) => asFault(error),
      );
      failure = fault?.message ?? "";
      if (memory.serving !== before) return { kind: "changed" };
      return fault === undefined ? { kind: "same" } : { kind: "unusable", fault };
    },
  };
}

function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault("ERR_AUTHORITY_UNREACHABLE", error instanceof Error ? error.message : String(error), error);
}
