/** What the command line needs from outside, as function types. Tests pass plain functions. */
import type { DrainPorts } from "./drain-ports.ts";
import type { deriveToken } from "./token-source.ts";

export type Ports = {
  /** Paths of the manifests in a folder, or the path itself when it is a file. Throws what the system throws. */
  readonly listManifests: (path: string) => readonly string[];
  readonly readFile: (path: string) => Uint8Array;
  readonly readStandardInput: () => Promise<Uint8Array>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly deriveToken: typeof deriveToken;
  readonly drains: DrainPorts;
};
