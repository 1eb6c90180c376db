/** Parses and compares versions of API servers and kubelets. */

type Version = { readonly major: number; readonly minor: number };

/** Reads `1.32`, `v1.30.1-eks-1a2b3c4`, `1.31+`, `v2.0.0`. @returns `undefined` for other text */
export function parseVersion(text: string): Version | undefined {
  const match = /^\s*v?([0-9]{1,4})\.([0-9]{1,4})(?![0-9])/.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]) };
}

export function isAtLeast(version: Version, major: number, minor: number): boolean {
  return version.major > major || (version.major === major && version.minor >= minor);
}
