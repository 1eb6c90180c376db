/** Parses image references. */

export type Image = {
  /** Without Docker Hub's prefixes: `nginx`, `envoyproxy/envoy`, `gcr.io/distroless/base`. */
  readonly repository: string;
  readonly tag: string;
  readonly version: readonly [number, number, number | undefined] | undefined;
};

export function parseImage(reference: string): Image {
  const [withoutDigest = ""] = reference.split("@");
  const colonIndex = withoutDigest.lastIndexOf(":");
  const hasTag = colonIndex > withoutDigest.lastIndexOf("/");
  const repository = (hasTag ? withoutDigest.slice(0, colonIndex) : withoutDigest).replace(
    /^(?:(?:index\.)?docker\.io\/)?(?:library\/)?/,
    "",
  );
  const tag = hasTag ? withoutDigest.slice(colonIndex + 1) : "";
  const match = /^v?([0-9]{1,4})\.([0-9]{1,4})(?:\.([0-9]{1,4}))?(?![0-9.])/.exec(tag);
  const patch = match?.[3];
  return {
    repository,
    tag,
    version:
      match === null
        ? undefined
        : [Number(match[1]), Number(match[2]), patch === undefined ? undefined : Number(patch)],
  };
}

/** A tag without a patch counts as the last patch of its minor version. */
export function isBefore({ version }: Image, [major, minor, patch]: readonly [number, number, number]): boolean {
  if (version === undefined) return false;
  const [ownMajor, ownMinor, ownPatch = Number.POSITIVE_INFINITY] = version;
  if (ownMajor !== major) return ownMajor < major;
  return ownMinor !== minor ? ownMinor < minor : ownPatch < patch;
}
