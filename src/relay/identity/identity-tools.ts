/** Makes and reads the parts of the identity with real cryptography. */
import { createHash, createPrivateKey, createSecretKey, randomBytes, X509Certificate } from "node:crypto";
import { makeCaPair } from "../../certificates/signing.ts";
import { CA_LIFE_MS, type Generation, type SigningKey } from "./identity.ts";

/** Clocks of nodes differ; a certificate from the future is refused. */
const BACKDATE_MS = 3_600_000;
/** The subject is how ours are known, and differs from CA to CA. */
const SUBJECT = /^CN=lastcall relay CA [0-9a-f]{16}$/;
const GENERATION_CHARACTERS = 16;
export const SECRET_BYTES = 32;

export type IdentityTools = {
  /** @param validFromMs of the CAs there are: the new one is valid as early, whose clock was ahead then does not matter */
  readonly makeGeneration: (wallMs: number, validFromMs: number) => Promise<Generation>;
  readonly makeKey: (wallMs: number) => SigningKey;
};

export const IDENTITY_TOOLS: IdentityTools = {
  makeGeneration: async (wallMs, validFromMs) => {
    const name = `lastcall relay CA ${randomBytes(8).toString("hex")}`;
    const fromMs = Math.min(wallMs - BACKDATE_MS, validFromMs);
    const made = await makeCaPair(name, { fromMs, untilMs: wallMs + CA_LIFE_MS });
    const read = readGeneration(made.cert, made.key);
    if ("why" in read) throw new Error(`a CA that was just made ${read.why}`);
    return read.generation;
  },
  makeKey: (wallMs) => ({
    kid: randomBytes(4).toString("hex"),
    madeMs: wallMs,
    secret: createSecretKey(randomBytes(SECRET_BYTES)),
  }),
};

/** A CA that was made here with its key, or why it is none: the rest of a sentence that starts with its place. */
export function readGeneration(
  cert: string,
  key: string,
): { readonly generation: Generation } | { readonly why: string } {
  const ca = parsed(cert);
  if (ca === undefined) return { why: cert === "" ? "has no certificate" : "has a certificate that cannot be read" };
  if (!ca.ca || !SUBJECT.test(ca.subject) || !ca.verify(ca.publicKey)) return { why: "was not made here" };
  if (key === "") return { why: "has no key" };
  if (!isKeyOf(ca, key)) return { why: "has the key of another certificate" };
  const der = ca.raw;
  const id = createHash("sha256").update(der).digest("hex").slice(0, GENERATION_CHARACTERS);
  const validFromMs = Date.parse(ca.validFrom);
  const validUntilMs = Date.parse(ca.validTo);
  return { generation: { id, cert, key, der: der.toString("base64"), validFromMs, validUntilMs } };
}

function parsed(cert: string): X509Certificate | undefined {
  try {
    return new X509Certificate(cert);
  } catch {
    return undefined;
  }
}

function isKeyOf(ca: X509Certificate, key: string): boolean {
  try {
    return ca.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}
