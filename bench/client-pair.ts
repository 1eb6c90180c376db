/** Makes the client certificate of an API server and its key, both PEM. */
import { generate } from "selfsigned";

export type CertificatePair = { readonly cert: string; readonly key: string };

export async function makeClientCertificate(ca: CertificatePair): Promise<CertificatePair> {
  const certificate = await generate([{ name: "commonName", value: "api-server" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: false },
      { name: "extKeyUsage", clientAuth: true },
    ],
    ca,
  });
  return { cert: certificate.cert, key: certificate.private };
}
