/** The source of the server's certificate: updates it, renews it in the server, and names why clients would refuse it. */
import type { ServerCertificate } from "../../authority/certificate.ts";
import { createFailureFilter } from "../../authority/reconcile.ts";
import { Fault } from "../../fault.ts";
import type { Log } from "../log.ts";

export type Refreshed =
  | { readonly kind: "same" }
  | { readonly kind: "changed" }
  /** The one in use stays. */
  | { readonly kind: "unusable"; readonly fault: Fault };

export type CertificateSource = {
  readonly current: () => ServerCertificate;
  readonly refresh: (nowMs: number) => Promise<Refreshed>;
  /** Why clients would refuse the current one; empty when they would accept it. */
  readonly complaint: (nowMs: number) => string;
  /** Ends open requests, which would keep the process for seconds where the API server is silent. */
  readonly close?: () => void;
};

type SourceParts = {
  readonly current: () => ServerCertificate | undefined;
  /** Lets the server listen and answer its probes until there is a current one. */
  readonly placeholder?: ServerCertificate;
  /** Rejects when it failed; the current one stays. */
  readonly update: (nowMs: number) => Promise<unknown>;
  /** Why no webhook trusts the current one; empty when all do, `undefined` before the first read. */
  readonly distrust?: () => string | undefined;
};

export function certificateSource({
  current,
  placeholder,
  update,
  distrust = () => "",
}: SourceParts): CertificateSource {
  let failure = "";
  return {
    current: () => {
      const certificate = current() ?? placeholder;
      if (certificate === undefined) throw new Error("there is no certificate yet");
      return certificate;
    },
    refresh: async (nowMs) => {
      const before = current();
      const fault = await update(nowMs).then(
        () => undefined,
        (error: unknown) => {
          failure = error instanceof Error ? error.message : String(error);
          return error instanceof Fault ? error : new Fault("ERR_AUTHORITY_UNREACHABLE", failure, error);
        },
      );
      if (fault === undefined) failure = "";
      if (current() !== before) return { kind: "changed" };
      return fault === undefined ? { kind: "same" } : { kind: "unusable", fault };
    },
    complaint: (nowMs) => {
      const certificate = current();
      const why = distrust();
      if (certificate === undefined || why === undefined)
        return failure || why || "the webhook configuration was not read yet";
      return why || complaintAbout(certificate, nowMs);
    },
  };
}

/** Why clients would refuse the certificate now; empty when they would accept it. */
export function complaintAbout(certificate: ServerCertificate, nowMs: number): string {
  if (nowMs < certificate.validFromMs) return "the certificate is not valid yet";
  return nowMs < certificate.validUntilMs ? "" : "the certificate has expired";
}

type Renewal = {
  readonly source: CertificateSource;
  readonly use: (certificate: ServerCertificate) => void;
  readonly log: Log;
};

/** Below this share of its life a certificate that cannot be renewed is an error. */
const NEAR_END = 1 / 4;

/** The returned function never rejects, and does nothing while its last call runs. `nowMs` is wall-clock time. */
export function renewal({ source, use, log }: Renewal): (nowMs: number) => Promise<void> {
  const failures = createFailureFilter();
  let isRunning = false;

  const logFailure = ({ message }: Fault, nowMs: number): void => {
    if (!failures.isDue(message, nowMs)) return;
    const { validFromMs, validUntilMs } = source.current();
    const fields = { why: message, validUntil: new Date(validUntilMs).toISOString() };
    if (validUntilMs - nowMs < (validUntilMs - validFromMs) * NEAR_END)
      log.error(fields, "the certificate ends soon and has no successor");
    else log.warn(fields, "no new certificate can be used, the old one stays");
  };

  const renew = async (nowMs: number): Promise<void> => {
    const found = await source.refresh(nowMs);
    if (found.kind === "unusable") return logFailure(found.fault, nowMs);
    failures.reset();
    if (found.kind === "same") return;
    use(source.current());
    log.info({ validUntil: new Date(source.current().validUntilMs).toISOString() }, "certificate renewed");
  };

  return async (nowMs) => {
    if (isRunning) return;
    isRunning = true;
    try {
      await renew(nowMs);
    } catch (error) {
      log.error({ err: error }, "looking after the certificate failed");
    } finally {
      isRunning = false;
    }
  };
}
