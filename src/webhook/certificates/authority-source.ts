/** The server's certificate from the authority that all replicas share. */
import type { Ca, ServerCertificate } from "../../authority/certificate.ts";
import { Fault } from "../../fault.ts";
import type { Keeper } from "./reconciler.ts";
import { type CertificateSource, complaintAbout } from "./source.ts";

/** For the metrics. */
export type AuthorityStatus = {
  readonly leafValidUntilMs: number | undefined;
  readonly signer: Ca | undefined;
  readonly isInSync: boolean;
};

export type AuthoritySource = CertificateSource & { readonly status: () => AuthorityStatus };

/** `placeholder` lets the server listen, and answer its probes, before there is a certificate that anybody trusts. */
export function authoritySource(keeper: Keeper, placeholder: ServerCertificate): AuthoritySource {
  let distrust = "the CA was not read yet";
  let failure = "";
  let signer: Ca | undefined;
  let isInSync = false;

  const look = async (): Promise<Fault | undefined> => {
    try {
      const standing = await keeper.look();
      ({ distrust, signer } = standing);
      isInSync = distrust === "";
      failure = "";
      return undefined;
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
      // What is known of the bundles may be old now, but every client that trusted the leaf still does.
      isInSync = false;
      return new Fault("ERR_AUTHORITY_UNREACHABLE", failure, error);
    }
  };

  return {
    current: () => keeper.leaf() ?? placeholder,
    refresh: async () => {
      const before = keeper.leaf();
      const fault = await look();
      if (keeper.leaf() !== before) return { kind: "changed" };
      return fault === undefined ? { kind: "same" } : { kind: "unusable", fault };
    },
    complaint: (nowMs) => {
      const leaf = keeper.leaf();
      if (leaf === undefined) return failure === "" ? distrust : failure;
      return distrust === "" ? complaintAbout(leaf, nowMs) : distrust;
    },
    status: () => ({ leafValidUntilMs: keeper.leaf()?.validUntilMs, signer, isInSync }),
  };
}
