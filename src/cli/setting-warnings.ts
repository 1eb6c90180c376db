/** Warnings about labels and annotations of lastcall that stand beside the Pods, where injection does not read them. */
import { manifestSet } from "../lint/manifest-set.ts";
import { settingsAroundPods } from "../lint/rules/settings.ts";
import { placeOf } from "./manifest/place-of.ts";
import type { FileProblem, OpenManifest } from "./open-manifests.ts";
import type { InjectRequest } from "./request.ts";

export function settingWarnings(
  manifests: readonly OpenManifest[],
  { namespace, config }: InjectRequest,
): readonly FileProblem[] {
  return manifests.flatMap(({ name: file, text, parsed }) =>
    parsed.documents.flatMap(({ number, value, pods, tree }) => {
      const { objects } = manifestSet([{ file, number, value, pods }], namespace);
      return objects
        .flatMap((object) => settingsAroundPods(object, config.profiles))
        .map(({ path, message }) => ({ file, document: number, place: placeOf(text, tree, path), message }));
    }),
  );
}
