/** One replica's look after the identity all replicas share: read, make what is missing, and read again. */
import type { SecretStore, StoredSecret } from "../../api-server/secret-store.ts";
import { fingerprintOf } from "../../authority/certificate.ts";
import { keptOf, type Missing, missingFrom, NO_IDENTITY, type RelayIdentity } from "./identity.ts";
import type { IdentityTools } from "./identity-tools.ts";
import { changesTo, entriesOf, readContent, type SecretContent } from "./secret-content.ts";

/** What happened, for the log and the metrics. */
export type IdentityEvent =
  | { readonly kind: "written"; readonly made: Missing }
  | { readonly kind: "conflict" }
  | { readonly kind: "damage"; readonly sentences: readonly string[] }
  /** CAs that Pods were given are gone from the Secret while they were valid: those Pods drain without the relay. */
  | { readonly kind: "lost"; readonly generations: readonly string[] };

export type KeeperPorts = {
  readonly secrets: SecretStore;
  readonly tools: IdentityTools;
  /** Wall clock, milliseconds. */
  readonly wallMs: () => number;
  readonly tell: (event: IdentityEvent) => void;
};

export type Keeper = {
  /** Rejects when the API server cannot be asked; what was known stays. One at a time. */
  readonly look: () => Promise<void>;
  readonly identity: () => RelayIdentity;
};

/** One write of this replica plus as many lost races as there can be at once; beyond that, a writer never stops. */
const ROUND_LIMIT = 16;

const NOTHING: SecretContent = { identity: NO_IDENTITY, damage: [], names: [] };

export function createKeeper(ports: KeeperPorts): Keeper {
  let known = NO_IDENTITY;

  const learn = (found: RelayIdentity): void => {
    const lost = known.generations.filter(
      ({ id, validUntilMs }) => validUntilMs > ports.wallMs() && !found.generations.some((each) => each.id === id),
    );
    if (lost.length > 0) ports.tell({ kind: "lost", generations: lost.map(fingerprintOf) });
    known = found;
  };

  const look = async (): Promise<void> => {
    for (let round = 0; round < ROUND_LIMIT; round += 1) {
      const secret = await ports.secrets.read();
      const content = secret === undefined ? NOTHING : readContent(secret.data);
      const missing = missingFrom(content.identity, ports.wallMs());
      const isWhole = !missing.generation && !missing.key && content.damage.length === 0;
      // The good parts of it serve even where the Secret cannot be repaired.
      if (isWhole || hasAnything(content.identity)) learn(content.identity);
      if (isWhole) return;
      // What this writes is used once it was read back: what another replica wrote meanwhile counts.
      await repair(secret, content, missing, ports);
    }
    throw new Error(`the relay's Secret was changed by others ${ROUND_LIMIT} times in a row`);
  };

  return { look, identity: () => known };
}

function hasAnything({ generations, keys }: RelayIdentity): boolean {
  return generations.length > 0 || keys.length > 0;
}

async function repair(
  secret: StoredSecret | undefined,
  content: SecretContent,
  missing: Missing,
  ports: KeeperPorts,
): Promise<void> {
  if (content.damage.length > 0) ports.tell({ kind: "damage", sentences: content.damage });
  const wanted = keptOf(await completed(content.identity, missing, ports));
  const written =
    secret === undefined
      ? await ports.secrets.create(entriesOf(wanted))
      : await ports.secrets.update(secret, changesTo(content, wanted));
  ports.tell(written === "done" ? { kind: "written", made: missing } : { kind: "conflict" });
}

async function completed(found: RelayIdentity, missing: Missing, ports: KeeperPorts): Promise<RelayIdentity> {
  const wallMs = ports.wallMs();
  const { generations, keys } = found;
  const earliestMs = Math.min(wallMs, ...generations.map(({ validFromMs }) => validFromMs));
  return {
    generations: missing.generation
      ? [...generations, await ports.tools.makeGeneration(wallMs, earliestMs)]
      : generations,
    keys: missing.key ? [...keys, ports.tools.makeKey(wallMs)] : keys,
  };
}
