/** Faults: our side failed. A person's mistake is a `Problem` instead and never thrown. */
export const FAULTS = {
  ERR_CERTIFICATE_UNREADABLE: "the certificate or key file cannot be read or does not fit together",
  ERR_AUTHORITY_UNREACHABLE: "the CA or the webhook configuration cannot be read or written in the cluster",
  ERR_LISTEN_FAILED: "the server cannot listen on the address asked for",
  ERR_INPUT_UNREADABLE: "an input file or folder cannot be read",
  ERR_DEMO_FAILED: "a part of the demo did not start or answer",
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
