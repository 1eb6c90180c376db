/** Makes the client certificate of an API server and its key, both PEM. */
import { generate } from "selfsigned";

export type Pair = { readonly cert: string; readonly key: string };

export async function clientPair(ca: Pair): Promise<Pair> {
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
