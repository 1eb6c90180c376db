/** One replica's look after the authority: read, decide, do, and again until there is nothing to do. */
import type { SecretStore, StoredSecret } from "../../api-server/secret-store.ts";
import type { Written } from "../../api-server/stored-object.ts";
import type { Ca, ServerCertificate, SigningCa } from "../../authority/certificate.ts";
import { bundleText, pemBlocks } from "../../authority/pem-bundle.ts";
import type { CertificateTools } from "../../authority/signing.ts";
import { type Authority, type Lives, type Moment, NO_AUTHORITY, trustedBy } from "./authority.ts";
import { type Draft, decide, isTrustedEverywhere, type Memory, NO_MEMORY, type Seen, type Step } from "./decide.ts";
import { contentOf, readContent } from "./secret-content.ts";
import type { WebhookConfiguration, WebhookConfigurations } from "./webhook-configurations.ts";

/** What happened, for the log and the metrics. */
export type KeeperEvent =
  | { readonly kind: "secret-written"; readonly reason: string }
  | { readonly kind: "bundle-written"; readonly cas: number }
  | { readonly kind: "conflict"; readonly on: "Secret" | "configuration" }
  | { readonly kind: "damage"; readonly sentences: readonly string[] };

export type KeeperPorts = {
  readonly secrets: SecretStore;
  readonly configurations: WebhookConfigurations;
  readonly tools: CertificateTools;
  readonly now: () => Moment;
  readonly tell: (event: KeeperEvent) => void;
};

export type Keeper = {
  /**
   * Rejects when the API server cannot be asked; what was reached stays. One at a time: the caller waits for the last
   * one to end before it starts another.
   */
  readonly look: () => Promise<Standing>;
  /** `undefined` until the first one was issued. */
  readonly leaf: () => ServerCertificate | undefined;
};

export type Standing = {
  /** Why no API server can trust the leaf now; empty when every webhook carries its CA. */
  readonly distrust: string;
  readonly signer: Ca | undefined;
};

/** Two writes of this replica and as many lost races as there can be at once; beyond that, a writer never stops. */
const ROUND_LIMIT = 16;

type Read = {
  readonly seen: Seen;
  readonly secret: StoredSecret | undefined;
  readonly configuration: WebhookConfiguration;
  readonly damage: readonly string[];
};

export function createKeeper(ports: KeeperPorts, lives: Lives): Keeper {
  let memory: Memory = NO_MEMORY;
  let leaf: ServerCertificate | undefined;

  const perform = async (step: Exclude<Step, { kind: "rest" }>, read: Read): Promise<void> => {
    if (step.kind === "issue") {
      leaf = await ports.tools.makeLeaf({ signer: step.signer, validUntilMs: step.validUntilMs });
      memory = { ...memory, leaf: { ca: step.signer, validUntilMs: step.validUntilMs } };
    } else if (step.kind === "publish") {
      const written = await ports.configurations.writeBundle(read.configuration, bundleText(step.cas));
      ports.tell(written === "done" ? { kind: "bundle-written", cas: step.cas.length } : conflictOn("configuration"));
    } else {
      if (read.damage.length > 0) ports.tell({ kind: "damage", sentences: read.damage });
      const authority = await finished(step.draft, read.seen, ports.tools, lives);
      const written = await writeSecret(ports.secrets, read.secret, authority);
      ports.tell(written === "done" ? { kind: "secret-written", reason: step.reason } : conflictOn("Secret"));
    }
  };

  const look = async (): Promise<Standing> => {
    for (let round = 0; round < ROUND_LIMIT; round += 1) {
      const read = await readBoth(ports);
      const decided = decide(read.seen, memory, lives);
      memory = decided.memory;
      if (decided.step.kind === "rest") return standingOf(read.seen, memory);
      await perform(decided.step, read);
    }
    throw new Error(`the Secret or the webhook configuration was changed by others ${ROUND_LIMIT} times in a row`);
  };

  return { look, leaf: () => leaf };
}

function conflictOn(on: "Secret" | "configuration"): KeeperEvent {
  return { kind: "conflict", on };
}

/** First the configuration, then the Secret: see `decide.ts`. The time is from before both. */
async function readBoth({ secrets, configurations, tools, now }: KeeperPorts): Promise<Read> {
  const moment = now();
  const configuration = await configurations.read();
  if (configuration === undefined) throw new Error(`there is no ${configurations.what}`);
  const secret = await secrets.read();
  const content = secret === undefined ? undefined : readContent(secret.data, tools);
  const published = new Map<string, Ca>();
  for (const { cert } of configuration.bundles.flatMap((bundle) => pemBlocks(bundle).blocks)) {
    const read = tools.readCa(cert);
    if ("ca" in read) published.set(read.ca.id, read.ca);
  }
  const seen: Seen = {
    moment,
    bundles: configuration.bundles,
    published: [...published.values()],
    authority: content?.authority ?? NO_AUTHORITY,
    isDamaged: content === undefined || content.damage.length > 0,
    salvaged: content?.salvaged ?? [],
  };
  return { seen, secret, configuration, damage: content?.damage ?? [] };
}

async function finished(draft: Draft, seen: Seen, tools: CertificateTools, lives: Lives): Promise<Authority> {
  const { next } = draft;
  if (next !== "to be made") return { ...draft, next };
  const earlier = trustedBy({ ...draft, next: undefined }).map((ca) => ca.validFromMs);
  const made: SigningCa = await tools.makeCa({
    nowMs: seen.moment.wallMs,
    lifeMs: lives.caLifeMs,
    validFromMs: earlier.length === 0 ? undefined : Math.min(...earlier),
  });
  return { ...draft, next: made };
}

function writeSecret(secrets: SecretStore, seen: StoredSecret | undefined, authority: Authority): Promise<Written> {
  const content = contentOf(authority);
  if (seen !== undefined) return secrets.update(seen, content);
  const entries = Object.entries(content).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return secrets.create(Object.fromEntries(entries));
}

function standingOf(seen: Seen, { leaf }: Memory): Standing {
  const { signer } = seen.authority;
  if (leaf === undefined) return { distrust: "a new CA is being made known to the API servers", signer };
  if (isTrustedEverywhere(seen.bundles, leaf.ca)) return { distrust: "", signer };
  return { distrust: "the webhook configuration does not trust the certificate", signer };
}
