/** Looks after the certificate from time to time and hands every new one to the server. */
import type { ServerCertificate } from "../../authority/certificate.ts";
import type { Log } from "../request-log.ts";
import type { CertificateSource } from "./source.ts";

export type Renewal = {
  readonly source: CertificateSource;
  readonly use: (certificate: ServerCertificate) => void;
  readonly log: Log;
};

/** The same trouble is told again after this time. */
const REPEAT_MS = 600_000;
/** Below this much of its life a certificate that cannot be renewed is an error. */
const NEAR_END = 1 / 4;

/** The function it answers never rejects, and does nothing while its last call still runs. `nowMs` is wall-clock time. */
export function renewal({ source, use, log }: Renewal): (nowMs: number) => Promise<void> {
  let isRunning = false;
  let told = { message: "", atMs: 0 };

  const tell = (fault: Error, nowMs: number): void => {
    const isNew = fault.message !== told.message || Math.abs(nowMs - told.atMs) >= REPEAT_MS;
    if (!isNew) return;
    told = { message: fault.message, atMs: nowMs };
    const { validFromMs, validUntilMs } = source.current();
    const leftMs = validUntilMs - nowMs;
    const fields = { why: fault.message, validUntil: new Date(validUntilMs).toISOString() };
    if (leftMs < (validUntilMs - validFromMs) * NEAR_END)
      log.error(fields, "the certificate ends soon and has no successor");
    else log.warn(fields, "no new certificate can be used, the old one stays");
  };

  const look = async (nowMs: number): Promise<void> => {
    const found = await source.refresh(nowMs);
    if (found.kind === "unusable") return tell(found.fault, nowMs);
    told = { message: "", atMs: 0 };
    if (found.kind === "same") return;
    use(source.current());
    log.info({ validUntil: new Date(source.current().validUntilMs).toISOString() }, "certificate renewed");
  };

  return async (nowMs) => {
    if (isRunning) return;
    isRunning = true;
    try {
      await look(nowMs);
    } catch (error) {
      log.error({ err: error }, "looking after the certificate failed");
    } finally {
      isRunning = false;
    }
  };
}
