/** Makes and reads the CAs and signing keys of the relay. */
import { createSecretKey, randomBytes } from "node:crypto";
import { caReader, type SigningCa } from "../../authority/certificate.ts";
import { certificateTools } from "../../authority/signing.ts";
import { CA_LIFE_MS, type SigningKey } from "./identity.ts";

const CA_NAME = "lastcall relay CA";
export const SECRET_BYTES = 32;

export type IdentityTools = {
  /** @param validFromMs of the CAs there are: the new one starts as early, so a clock that was ahead has no effect */
  readonly makeGeneration: (wallMs: number, validFromMs: number) => Promise<SigningCa>;
  readonly makeKey: (wallMs: number) => SigningKey;
};

export const RELAY_CA_READER = caReader(CA_NAME);

export const IDENTITY_TOOLS: IdentityTools = {
  makeGeneration: (nowMs, validFromMs) =>
    certificateTools(CA_NAME, { dns: [] }).makeCa({ nowMs, lifeMs: CA_LIFE_MS, validFromMs }),
  makeKey: (wallMs) => ({
    kid: randomBytes(4).toString("hex"),
    madeMs: wallMs,
    secret: createSecretKey(randomBytes(SECRET_BYTES)),
  }),
};
