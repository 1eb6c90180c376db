/** Performs the steps of `decide.ts`: issues a leaf, writes the Secret, or writes the caBundles. */
import type { SecretStore } from "../../api-server/secret-store.ts";
import { bundleText, type Ca, parsePemBlocks, type ServerCertificate } from "../../authority/certificate.ts";
import { reconcile } from "../../authority/reconcile.ts";
import { type SecretEvent, type SecretReading, writeSecret } from "../../authority/shared-secret.ts";
import type { CertificateTools } from "../../authority/signing.ts";
import { type Authority, type Lifetimes, type Moment, trustedCas } from "./authority.ts";
import {
  type Draft,
  decide,
  INITIAL_STATE,
  isTrustedEverywhere,
  type ObservedState,
  type ReplicaState,
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
  /** Rejects when the API server is unreachable; completed steps remain in effect. Calls must not overlap. */
  readonly reconcile: () => Promise<void>;
  readonly leaf: () => ServerCertificate | undefined;
  /** The reason why API servers cannot trust the leaf; "" if every caBundle has its CA; `undefined` before the first read. */
  readonly distrustReason: () => string | undefined;
  readonly status: () => AuthorityStatus;
};

export type AuthorityStatus = {
  readonly leafValidUntilMs: number | undefined;
  readonly signer: Ca | undefined;
  readonly isInSync: boolean;
};

type ReadResult = SecretReading & { readonly observed: ObservedState; readonly configuration: WebhookConfiguration };

export function createReconciler(ports: ReconcilerPorts, lifetimes: Lifetimes): Reconciler {
  let replicaState: ReplicaState = INITIAL_STATE;
  let leaf: ServerCertificate | undefined;
  let distrustReason: string | undefined;
  let signer: Ca | undefined;
  let isInSync = false;

  const perform = async (step: Step, readResult: ReadResult): Promise<void> => {
    if (step.kind === "issue") {
      const { signer, validUntilMs } = step;
      leaf = await ports.tools.makeLeaf({ signer, validUntilMs });
      replicaState = { ...replicaState, leaf: { ca: signer, validUntilMs } };
    } else if (step.kind === "publish") await publishBundle(ports, readResult.configuration, bundleText(step.cas));
    else {
      const authority = await completeDraft(step.draft, readResult.observed, ports.tools, lifetimes);
      await writeSecret(ports, readResult, { changes: contentOf(authority), reason: step.reason });
    }
  };

  const reconcileOnce = async (): Promise<void> => {
    const { observed } = await reconcile({
      target: "the Secret or the webhook configuration",
      read: () => readState(ports),
      decide: (readResult) => {
        const decision = decide(readResult.observed, replicaState, lifetimes);
        replicaState = decision.state;
        return decision.step;
      },
      write: perform,
    });
    distrustReason = distrustReasonOf(observed, replicaState);
    signer = observed.authority.signer;
    isInSync = distrustReason === "";
  };

  return {
    reconcile: () =>
      reconcileOnce().catch((error: unknown) => {
        // Keeps `distrustReason`: while the API server is unreachable, its caBundle does not change.
        isInSync = false;
        throw error;
      }),
    leaf: () => leaf,
    distrustReason: () => distrustReason,
    status: () => ({ leafValidUntilMs: leaf?.validUntilMs, signer, isInSync }),
  };
}

/** Reads the configuration before the Secret; `decide.ts` gives the reason. */
async function readState({ secrets, configurations, tools, now }: ReconcilerPorts): Promise<ReadResult> {
  const moment = now();
  const configuration = await readExisting(configurations);
  const stored = await secrets.read();
  const { authority, keylessCas, secretErrors } = readContent(stored?.data ?? {}, tools);
  const publishedCas = new Map<string, Ca>();
  for (const { cert } of configuration.bundles.flatMap((bundle) => parsePemBlocks(bundle).blocks)) {
    const result = tools.readCa(cert);
    if ("ca" in result) publishedCas.set(result.ca.id, result.ca);
  }
  const isDamaged = stored === undefined || secretErrors.length > 0;
  const { bundles } = configuration;
  const observed: ObservedState = {
    moment,
    bundles,
    publishedCas: [...publishedCas.values()],
    authority,
    isDamaged,
    keylessCas,
  };
  return { observed, stored, configuration, secretErrors };
}

async function completeDraft(
  draft: Draft,
  observed: ObservedState,
  tools: CertificateTools,
  lifetimes: Lifetimes,
): Promise<Authority> {
  const { next } = draft;
  if (next !== "to be created") return { ...draft, next };
  const validityStartsMs = trustedCas({ ...draft, next: undefined }).map((ca) => ca.validFromMs);
  const validFromMs = validityStartsMs.length === 0 ? undefined : Math.min(...validityStartsMs);
  const newCa = await tools.makeCa({ nowMs: observed.moment.wallMs, lifeMs: lifetimes.caLifeMs, validFromMs });
  return { ...draft, next: newCa };
}

function distrustReasonOf({ bundles }: ObservedState, { leaf }: ReplicaState): string {
  if (leaf === undefined) return "the webhook has no certificate until API servers trust its new CA";
  return isTrustedEverywhere(bundles, leaf.ca) ? "" : UNTRUSTED;
}
