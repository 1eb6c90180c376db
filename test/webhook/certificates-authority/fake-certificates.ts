/** Creates fake certificates for tests that need thousands: PEM blocks with a JSON body, without cryptography. */
import { pemId, type SigningCa } from "../../../src/authority/certificate.ts";
import type { CertificateTools } from "../../../src/authority/signing.ts";

type Claims = { readonly name: string; readonly from: number; readonly until: number };

export function createFakeCa(name: string, fromMs: number, untilMs: number): SigningCa {
  const claims: Claims = { name, from: fromMs, until: untilMs };
  const body = Buffer.from(JSON.stringify(claims)).toString("base64");
  const cert = `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
  return { id: body, cert, key: `key of ${name}`, validFromMs: fromMs, validUntilMs: untilMs };
}

export function createFakeTools(newName: () => string): CertificateTools {
  return {
    readCa: (cert) => {
      const id = pemId(cert);
      const claims = claimsIn(id ?? "");
      if (id === undefined || claims === undefined) return { defect: "is not one PEM certificate" };
      return { ca: { id, cert, validFromMs: claims.from, validUntilMs: claims.until } };
    },
    isKeyOf: (ca, key) => key === `key of ${claimsIn(ca.id)?.name}`,
    makeCa: async ({ nowMs, lifeMs, validFromMs }) =>
      createFakeCa(newName(), Math.min(nowMs - 3_600_000, validFromMs ?? nowMs), nowMs + lifeMs),
    makeLeaf: async ({ signer, validUntilMs }) => ({
      cert: signer.id,
      key: "",
      validFromMs: signer.validFromMs,
      validUntilMs,
    }),
  };
}

function claimsIn(body: string): Claims | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(body, "base64").toString());
    return typeof claims === "object" && claims !== null && "name" in claims ? (claims as Claims) : undefined;
  } catch {
    return undefined;
  }
}
