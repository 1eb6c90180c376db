/** Updates the certificate of the running server, and reports why clients would reject it. */
import type { ServerCertificate } from "../../authority/certificate.ts";
import { createFailureFilter } from "../../authority/reconcile.ts";
import { Fault } from "../../fault.ts";
import type { Log } from "../log.ts";

export type RefreshResult =
  | { readonly kind: "same" }
  | { readonly kind: "changed" }
  | { readonly kind: "unusable"; readonly fault: Fault };

export type CertificateSource = {
  readonly current: () => ServerCertificate;
  readonly refresh: (nowMs: number) => Promise<RefreshResult>;
  /** The reason why clients would reject the current certificate; "" if they would accept it. */
  readonly unreadyReason: (nowMs: number) => string;
  /** Aborts open requests, which would delay the exit if the API server does not respond. */
  readonly close?: () => void;
};

type SourceOptions = {
  readonly current: () => ServerCertificate | undefined;
  /** The server responds to probes with this certificate until `current` returns one. */
  readonly placeholder?: ServerCertificate;
  readonly update: (nowMs: number) => Promise<unknown>;
  /** The reason why a caBundle does not trust the current certificate; "" if all trust it; `undefined` before the first read. */
  readonly distrustReason?: () => string | undefined;
};

export function certificateSource({
  current,
  placeholder,
  update,
  distrustReason = () => "",
}: SourceOptions): CertificateSource {
  let failure = "";
  return {
    current: () => {
      const certificate = current() ?? placeholder;
      if (certificate === undefined) throw new Error("the webhook has no certificate yet");
      return certificate;
    },
    refresh: async (nowMs) => {
      const previous = current();
      const fault = await update(nowMs).then(
        () => undefined,
        (error: unknown) => {
          failure = error instanceof Error ? error.message : String(error);
          return error instanceof Fault ? error : new Fault("ERR_AUTHORITY_UNREACHABLE", failure, error);
        },
      );
      if (fault === undefined) failure = "";
      if (current() !== previous) return { kind: "changed" };
      return fault === undefined ? { kind: "same" } : { kind: "unusable", fault };
    },
    unreadyReason: (nowMs) => {
      const certificate = current();
      const why = distrustReason();
      if (certificate === undefined || why === undefined)
        return failure || why || "the webhook configuration has not been read yet";
      return why || validityError(certificate, nowMs);
    },
  };
}

export function validityError(certificate: ServerCertificate, nowMs: number): string {
  if (nowMs < certificate.validFromMs) return "the certificate is not valid yet";
  return nowMs < certificate.validUntilMs ? "" : "the certificate has expired";
}

type Renewal = {
  readonly source: CertificateSource;
  readonly useCertificate: (certificate: ServerCertificate) => void;
  readonly log: Log;
};

/** A failed renewal in the last quarter of the certificate's validity is logged as an error. */
const ERROR_LOG_FRACTION = 1 / 4;

/** The returned function never rejects, and returns immediately if its previous call still runs. `nowMs` is wall-clock time. */
export function certificateRenewer({ source, useCertificate, log }: Renewal): (nowMs: number) => Promise<void> {
  const failures = createFailureFilter();
  let isRunning = false;

  const logFailure = ({ message }: Fault, nowMs: number): void => {
    if (!failures.isDue(message, nowMs)) return;
    const { validFromMs, validUntilMs } = source.current();
    const fields = { why: message, validUntil: new Date(validUntilMs).toISOString() };
    if (validUntilMs - nowMs < (validUntilMs - validFromMs) * ERROR_LOG_FRACTION)
      log.error(fields, "the certificate expires soon and cannot be renewed");
    else log.warn(fields, "the certificate cannot be renewed; the current certificate stays in use");
  };

  const renew = async (nowMs: number): Promise<void> => {
    const result = await source.refresh(nowMs);
    if (result.kind === "unusable") return logFailure(result.fault, nowMs);
    failures.reset();
    if (result.kind === "same") return;
    useCertificate(source.current());
    log.info({ validUntil: new Date(source.current().validUntilMs).toISOString() }, "certificate renewed");
  };

  return async (nowMs) => {
    if (isRunning) return;
    isRunning = true;
    try {
      await renew(nowMs);
    } catch (error) {
      log.error({ err: error }, "renewing the certificate failed");
    } finally {
      isRunning = false;
    }
  };
}
