/** Reconciles one replica's leaf, the Secret of CAs and the webhook configuration, by the steps of `decide.ts`. */
import type { SecretStore } from "../../api-server/secret-store.ts";
import { bundleText, type Ca, pemBlocks, type ServerCertificate } from "../../authority/certificate.ts";
import { reconcile } from "../../authority/reconcile.ts";
import { type ReadSecret, type SecretEvent, writeSecret } from "../../authority/shared-secret.ts";
import type { CertificateTools } from "../../authority/signing.ts";
import { type Authority, type Lives, type Moment, trustedBy } from "./authority.ts";
import {
  type Draft,
  decide,
  isTrustedEverywhere,
  type Memory,
  NO_MEMORY,
  type Seen,
  type Step,
  type WriteReason,
} from "./decide.ts";
import { contentOf, readContent } from "./secret-content.ts";
import {
  type BundleEvent,
  publishBundle,
  readExisting,
  UNTRUSTED,
  type WebhookConfiguration,
  type WebhookConfigurations,
} from "./webhook-configurations.ts";

export type AuthorityEvent = SecretEvent<WriteReason> | BundleEvent;

export type ReconcilerPorts = {
  readonly secrets: SecretStore;
  readonly configurations: WebhookConfigurations;
  readonly tools: CertificateTools;
  readonly now: () => Moment;
  readonly recordEvent: (event: AuthorityEvent) => void;
};

export type Reconciler = {
  /** Rejects when the API server cannot be reached; finished steps stay. Calls must not overlap. */
  readonly reconcile: () => Promise<void>;
  /** `undefined` until the first one was issued. */
  readonly leaf: () => ServerCertificate | undefined;
  /** Why no API server can trust the leaf; empty when every webhook carries its CA, `undefined` before the first read. */
  readonly distrust: () => string | undefined;
  readonly status: () => AuthorityStatus;
};

/** For the metrics. */
export type AuthorityStatus = {
  readonly leafValidUntilMs: number | undefined;
  readonly signer: Ca | undefined;
  readonly isInSync: boolean;
};

type Read = ReadSecret & { readonly seen: Seen; readonly configuration: WebhookConfiguration };

export function createReconciler(ports: ReconcilerPorts, lives: Lives): Reconciler {
  let memory: Memory = NO_MEMORY;
  let leaf: ServerCertificate | undefined;
  let distrust: string | undefined;
  let signer: Ca | undefined;
  let isInSync = false;

  const perform = async (step: Step, read: Read): Promise<void> => {
    if (step.kind === "issue") {
      const { signer, validUntilMs } = step;
      leaf = await ports.tools.makeLeaf({ signer, validUntilMs });
      memory = { ...memory, leaf: { ca: signer, validUntilMs } };
    } else if (step.kind === "publish") await publishBundle(ports, read.configuration, bundleText(step.cas));
    else {
      const authority = await completed(step.draft, read.seen, ports.tools, lives);
      await writeSecret(ports, read, { changes: contentOf(authority), reason: step.reason });
    }
  };

  const reconcileBoth = async (): Promise<void> => {
    const { seen } = await reconcile({
      what: "the Secret or the webhook configuration",
      read: () => readBoth(ports),
      decide: (read) => {
        const decided = decide(read.seen, memory, lives);
        memory = decided.memory;
        return decided.step;
      },
      write: perform,
    });
    distrust = distrustOf(seen, memory);
    signer = seen.authority.signer;
    isInSync = distrust === "";
  };

  return {
    reconcile: () =>
      reconcileBoth().catch((error: unknown) => {
        // The bundles may have changed since; API servers that trusted the leaf still do, so `distrust` stays.
        isInSync = false;
        throw error;
      }),
    leaf: () => leaf,
    distrust: () => distrust,
    status: () => ({ leafValidUntilMs: leaf?.validUntilMs, signer, isInSync }),
  };
}

/** First the configuration, then the Secret: see `decide.ts`. The time is from before both. */
async function readBoth({ secrets, configurations, tools, now }: ReconcilerPorts): Promise<Read> {
  const moment = now();
  const configuration = await readExisting(configurations);
  const stored = await secrets.read();
  const { authority, salvaged, secretErrors } = readContent(stored?.data ?? {}, tools);
  const published = new Map<string, Ca>();
  for (const { cert } of configuration.bundles.flatMap((bundle) => pemBlocks(bundle).blocks)) {
    const read = tools.readCa(cert);
    if ("ca" in read) published.set(read.ca.id, read.ca);
  }
  const isDamaged = stored === undefined || secretErrors.length > 0;
  const { bundles } = configuration;
  const seen: Seen = { moment, bundles, published: [...published.values()], authority, isDamaged, salvaged };
  return { seen, stored, configuration, secretErrors };
}

async function completed(draft: Draft, seen: Seen, tools: CertificateTools, lives: Lives): Promise<Authority> {
  const { next } = draft;
  if (next !== "to be made") return { ...draft, next };
  const earlier = trustedBy({ ...draft, next: undefined }).map((ca) => ca.validFromMs);
  const validFromMs = earlier.length === 0 ? undefined : Math.min(...earlier);
  const made = await tools.makeCa({ nowMs: seen.moment.wallMs, lifeMs: lives.caLifeMs, validFromMs });
  return { ...draft, next: made };
}

function distrustOf({ bundles }: Seen, { leaf }: Memory): string {
  if (leaf === undefined) return "a new CA is being made known to the API servers";
  return isTrustedEverywhere(bundles, leaf.ca) ? "" : UNTRUSTED;
}
