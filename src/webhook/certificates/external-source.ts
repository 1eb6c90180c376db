/** Serves certificate files that another program renews, and publishes their CAs in every webhook. */
import { reconcile } from "../../authority/reconcile.ts";
import type { Moment } from "./authority.ts";
import { decideExternal, type ExternalMemory, isTrustedBy } from "./external-bundle.ts";
import type { ExternalPair } from "./external-files.ts";
import { type CertificateSource, certificateSource } from "./source.ts";
import { type BundlePorts, publishBundle, readExisting, UNTRUSTED } from "./webhook-configurations.ts";

export type ExternalPorts = BundlePorts & {
  /** Rejects with a Fault when the files are not usable now. */
  readonly read: () => Promise<ExternalPair>;
  readonly now: () => Moment;
  readonly settleMs: number;
};

/** @throws Fault ERR_CERTIFICATE_UNREADABLE when the files are unusable at the start */
export async function externalSource(ports: ExternalPorts): Promise<CertificateSource> {
  let memory: ExternalMemory = { serving: await ports.read(), foreignSince: new Map(), waiting: undefined };
  let distrust: string | undefined;

  const publish = (offered: ExternalPair): Promise<unknown> =>
    reconcile({
      what: "the webhook configuration",
      read: async () => ({ moment: ports.now(), configuration: await readExisting(ports.configurations) }),
      decide: ({ moment, configuration: { bundles } }) => {
        const decided = decideExternal({ moment, bundles, offered }, memory, ports.settleMs);
        memory = decided.memory;
        distrust = isTrustedBy(bundles, memory.serving) ? "" : UNTRUSTED;
        return decided.publish;
      },
      write: (bundle, { configuration }) => publishBundle(ports, configuration, bundle),
    });

  return certificateSource({
    current: () => memory.serving,
    distrust: () => distrust,
    update: async () => {
      const reading = ports.read();
      // Bundles have to trust the pair in use, whether the files are usable or not.
      await publish(await reading.catch(() => memory.serving));
      await reading;
    },
  });
}
