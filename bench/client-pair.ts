/** A certificate that an API server shows to a webhook which demands one, and its key, both PEM. */
import { generate } from "selfsigned";

export type Pair = { readonly cert: string; readonly key: string };

export async function clientPair(ca: Pair): Promise<Pair> {
  const made = await generate([{ name: "commonName", value: "api-server" }], {
    keyType: "ec",
    algorithm: "sha256",
    extensions: [
      { name: "basicConstraints", cA: false },
      { name: "extKeyUsage", clientAuth: true },
    ],
    ca,
  });
  return { cert: made.cert, key: made.private };
}
