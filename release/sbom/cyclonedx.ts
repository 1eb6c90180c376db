/** Formats SBOMs as CycloneDX 1.6. The same input results in the same bytes. */
import { createHash } from "node:crypto";

export type Component = {
  readonly type: "application" | "container" | "library";
  readonly "bom-ref": string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  /** `excluded`: used by the build, but not in the image. */
  readonly scope: "required" | "excluded";
  readonly hashes?: readonly { readonly alg: "SHA-256" | "SHA-512"; readonly content: string }[];
  readonly licenses?: readonly ({ readonly license: { readonly id: string } } | { readonly expression: string })[];
  readonly cpe?: string;
  readonly purl: string;
};

/** `uses` lists the dependencies of a component, by bom-ref. */
export type Parts = {
  readonly components: readonly Component[];
  readonly uses: ReadonlyMap<string, readonly string[]>;
};

/** The image's key in `uses`, for the dependencies of lastcall's own source. */
export const IMAGE_KEY = "";

type Image = { readonly name: string; readonly version: string; readonly parts: readonly Parts[] };

/** The document contains neither a time nor a random number: its serial number is a hash of its other content. */
export function sbomOf({ name, version, parts }: Image): string {
  const components = parts.flatMap((part) => part.components).toSorted(compareRefs);
  const uses = new Map(parts.flatMap((part) => [...part.uses]));
  const requiredRefs = components.filter(({ scope }) => scope === "required").map((component) => component["bom-ref"]);
  const usedRefs = new Set([...uses.values()].flat());
  const directRefs = new Set(parts.flatMap((part) => part.uses.get(IMAGE_KEY) ?? []));
  const body = {
    version: 1,
    metadata: {
      lifecycles: [{ phase: "build" }],
      component: { type: "container", "bom-ref": name, name, version, licenses: licensesOf("Apache-2.0") },
    },
    components,
    dependencies: [
      { ref: name, dependsOn: requiredRefs.filter((ref) => directRefs.has(ref) || !usedRefs.has(ref)) },
      ...components.flatMap(({ "bom-ref": ref }) => {
        const dependsOn = uses.get(ref);
        return dependsOn === undefined ? [] : [{ ref, dependsOn: dependsOn.toSorted() }];
      }),
    ],
  };
  const document = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: serialNumberOf(JSON.stringify(body)),
    ...body,
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

/** @param license SPDX identifier or expression */
export function licensesOf(license: string): NonNullable<Component["licenses"]> {
  return / (?:OR|AND|WITH) /.test(license) ? [{ expression: license }] : [{ license: { id: license } }];
}

/** Returns a UUID of version 8, whose bits besides version and variant are custom (RFC 9562). */
function serialNumberOf(text: string): string {
  const hash = createHash("sha256").update(text).digest("hex");
  const groups = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`];
  return `urn:uuid:${[...groups, hash.slice(20, 32)].join("-")}`;
}

function compareRefs(left: Component, right: Component): number {
  return left["bom-ref"] < right["bom-ref"] ? -1 : 1;
}
