/** Failures of lastcall, or of the machine that it runs on. A user's mistake is a `Problem` instead, which is never thrown. */
export const FAULTS = {
  ERR_CERTIFICATE_UNREADABLE: "cannot read the certificate or key file, or they do not match",
  ERR_AUTHORITY_UNREACHABLE: "cannot read or write the CA or the webhook configuration in the cluster",
  ERR_LISTEN_FAILED: "cannot listen on the configured address",
  ERR_INPUT_UNREADABLE: "cannot read an input file or directory",
  ERR_DEMO_FAILED: "the demo failed",
} as const;

type FaultCode = keyof typeof FAULTS;

export class Fault extends Error {
  readonly code: FaultCode;
  constructor(code: FaultCode, detail: string, cause?: unknown) {
    super(`${FAULTS[code]}: ${detail}`, { cause });
    this.name = "Fault";
    this.code = code;
  }
}
