/** Splits PEM bundles into certificates and compares bundles by content, without decoding certificates. */

/** `id` is the DER in base64, `cert` is PEM. */
export type PemBlock = { readonly id: string; readonly cert: string };

type PemBlocks = {
  readonly blocks: readonly PemBlock[];
  /** Something that is neither a certificate nor white space. */
  readonly hasJunk: boolean;
};

const BLOCK = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*)-----END CERTIFICATE-----/g;

export function pemBlocks(text: string): PemBlocks {
  const blocks = [...text.matchAll(BLOCK)].map((match) => ({ id: idOf(match[1] ?? ""), cert: `${match[0]}\n` }));
  return { blocks, hasJunk: text.replaceAll(BLOCK, "").trim() !== "" };
}

/** `undefined` unless the text is exactly one certificate. */
export function pemId(text: string): string | undefined {
  const { blocks, hasJunk } = pemBlocks(text);
  const [only, ...more] = blocks;
  return hasJunk || more.length > 0 || only?.id === "" ? undefined : only?.id;
}

/** Whether the text holds these certificates and nothing else; their order means nothing. */
export function holdsExactly(text: string, wanted: readonly Pick<PemBlock, "id">[]): boolean {
  const { blocks, hasJunk } = pemBlocks(text);
  const found = new Set(blocks.map((block) => block.id));
  const ids = new Set(wanted.map((ca) => ca.id));
  return !hasJunk && found.size === ids.size && [...ids].every((id) => found.has(id));
}

export function holds(text: string, ca: Pick<PemBlock, "id">): boolean {
  return pemBlocks(text).blocks.some((block) => block.id === ca.id);
}

export function bundleText(cas: readonly Pick<PemBlock, "cert">[]): string {
  return cas.map((ca) => `${ca.cert.trim()}\n`).join("");
}

function idOf(body: string): string {
  return body.replaceAll(/\s/g, "");
}
