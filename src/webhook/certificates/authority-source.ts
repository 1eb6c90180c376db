/** The server's certificate from the authority that all replicas share. */
import type { Ca, ServerCertificate } from "../../authority/certificate.ts";
import { Fault } from "../../fault.ts";
import type { Reconciler } from "./reconciler.ts";
import { type CertificateSource, complaintAbout } from "./source.ts";

/** For the metrics. */
export type AuthorityStatus = {
  readonly leafValidUntilMs: number | undefined;
  readonly signer: Ca | undefined;
  readonly isInSync: boolean;
};

export type AuthoritySource = CertificateSource & { readonly status: () => AuthorityStatus };

/** `placeholder` lets the server listen, and answer its probes, before there is a certificate that anybody trusts. */
export function authoritySource(reconciler: Reconciler, placeholder: ServerCertificate): AuthoritySource {
  let distrust = "the CA was not read yet";
  let failure = "";
  let signer: Ca | undefined;
  let isInSync = false;

  const reconcile = async (): Promise<Fault | undefined> => {
    try {
      const reconciled = await reconciler.reconcile();
      ({ distrust, signer } = reconciled);
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
    current: () => reconciler.leaf() ?? placeholder,
    refresh: async () => {
      const before = reconciler.leaf();
      const fault = await reconcile();
      if (reconciler.leaf() !== before) return { kind: "changed" };
      return fault === undefined ? { kind: "same" } : { kind: "unusable", fault };
    },
    complaint: (nowMs) => {
      const leaf = reconciler.leaf();
      if (leaf === undefined) return failure === "" ? distrust : failure;
      return distrust === "" ? complaintAbout(leaf, nowMs) : distrust;
    },
    status: () => ({ leafValidUntilMs: reconciler.leaf()?.validUntilMs, signer, isInSync }),
  };
}
