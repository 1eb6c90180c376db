/**
 * Serves certificate files that another program renews, and publishes their CAs in every webhook. The files of replicas
 * change minutes apart, so a CA that is not in this replica's files may be in another's: it stays in bundles for a while.
 */
import { bundleText, holds, holdsExactly, pemBlocks } from "../../authority/certificate.ts";
import { reconcile } from "../../authority/reconcile.ts";
import type { Moment } from "./authority.ts";
import type { ExternalPair } from "./external-files.ts";
import { type CertificateSource, certificateSource } from "./source.ts";
import { type BundlePorts, publishBundle, readExisting, UNTRUSTED } from "./webhook-configurations.ts";

/** Kubelet brings a changed Secret to every Pod within about two minutes. */
export const LINGER_MS = 15 * 60_000;

export type ExternalPorts = BundlePorts & {
  /** Rejects with a Fault when the files are not usable now. */
  readonly read: () => Promise<ExternalPair>;
  readonly now: () => Moment;
  readonly settleMs: number;
};

type Memory = {
  readonly serving: ExternalPair;
  /** Since when each foreign CA was seen in a bundle. Monotonic milliseconds. */
  readonly foreignSince: ReadonlyMap<string, number>;
  /** Since when every webhook was seen to trust the pair that waits; by its certificate. */
  readonly waiting: { readonly cert: string; readonly sinceMs: number } | undefined;
};

type Seen = { readonly moment: Moment; readonly bundles: readonly string[]; readonly offered: ExternalPair };

/** `publish` is what to write into every webhook; `undefined` when they are right. */
type Decided = { readonly memory: Memory; readonly publish: string | undefined };

/** @throws Fault ERR_CERTIFICATE_UNREADABLE when the files are unusable at the start */
export async function externalSource(ports: ExternalPorts): Promise<CertificateSource> {
  let memory: Memory = { serving: await ports.read(), foreignSince: new Map(), waiting: undefined };
  let distrust: string | undefined;

  const publish = (offered: ExternalPair): Promise<unknown> =>
    reconcile({
      what: "the webhook configuration",
      read: async () => ({ moment: ports.now(), configuration: await readExisting(ports.configurations) }),
      decide: ({ moment, configuration: { bundles } }) => {
        const decided = decide({ moment, bundles, offered }, memory, ports.settleMs);
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

function decide(seen: Seen, last: Memory, settleMs: number): Decided {
  const { moment, bundles, offered } = seen;
  const own = new Map([...offered.cas, ...last.serving.cas].map((ca) => [ca.id, ca] as const));
  const foreign = bundles.flatMap((bundle) => pemBlocks(bundle).blocks).filter((block) => !own.has(block.id));
  const foreignSince = new Map(foreign.map(({ id }) => [id, last.foreignSince.get(id) ?? moment.monotonicMs] as const));
  const left = foreign.filter(({ id }) => moment.monotonicMs - (foreignSince.get(id) ?? 0) < LINGER_MS);
  const wanted = [...own.values(), ...new Map(left.map((block) => [block.id, block] as const)).values()];
  const isRight = bundles.every((bundle) => holdsExactly(bundle, wanted));
  const isTrusted = isTrustedBy(bundles, offered);
  const known = last.waiting?.cert === offered.cert ? last.waiting : undefined;
  const waiting = isTrusted ? (known ?? { cert: offered.cert, sinceMs: moment.monotonicMs }) : undefined;
  const memory: Memory = { serving: last.serving, foreignSince, waiting };
  return {
    memory: mayServe(seen, memory, settleMs) ? { ...memory, serving: offered } : memory,
    publish: isRight ? undefined : bundleText(wanted),
  };
}

/** Whether every webhook trusts a CA that issued the pair. */
function isTrustedBy(bundles: readonly string[], pair: ExternalPair): boolean {
  return bundles.every((bundle) => pair.issuers.some((ca) => holds(bundle, ca)));
}

/** A new pair of the same CA at once, of another CA when no API server can still hold a bundle without it. */
function mayServe({ moment, offered }: Seen, { serving, waiting }: Memory, settleMs: number): boolean {
  if (offered.cert === serving.cert) return false;
  const hasSameIssuers = offered.issuers.every((ca) => serving.issuers.some((other) => other.id === ca.id));
  if (hasSameIssuers || moment.wallMs >= serving.validUntilMs) return true;
  return waiting !== undefined && moment.monotonicMs - waiting.sinceMs >= settleMs;
}
