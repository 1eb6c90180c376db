/** Function types through which the command line reaches files and streams. */
import type { DrainPorts } from "./drain-ports.ts";
import type { deriveToken } from "./token-source.ts";

export type Ports = {
  /** Paths of the manifests in a folder, or the path of a file. @throws the error of the file system */
  readonly listManifests: (path: string) => readonly string[];
  readonly readFile: (path: string) => Uint8Array;
  readonly readStandardInput: () => Promise<Uint8Array>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly deriveToken: typeof deriveToken;
  readonly drains: DrainPorts;
};
