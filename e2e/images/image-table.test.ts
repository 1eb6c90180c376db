import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { IMAGE_USER, IMAGES, type ImageRow } from "./image-table.ts";

const DOCKERFILE = readFileSync(join(import.meta.dirname, "../../Dockerfile"), "utf8");

/** The lines of the stage that `docker build --target=TARGET` builds. */
function stageOf(target: string): readonly string[] {
  const stage = DOCKERFILE.split(/^(?=FROM )/m).find((stage) => stage.split("\n", 1)[0]?.endsWith(` AS ${target}`));
  if (stage === undefined) throw new Error(`The Dockerfile has no target ${target}.`);
  return stage.split("\n");
}

function copiesOf(target: string): readonly { readonly from: string; readonly to: string }[] {
  return stageOf(target).flatMap((line) => {
    const [, from, to] = /^COPY --from=build \/source\/(\S+) (\S+)$/.exec(line) ?? [];
    return from === undefined || to === undefined ? [] : [{ from, to }];
  });
}

describe.each([
  { target: "manager", row: IMAGES["lastcall-manager"] },
  { target: "manager-node", row: IMAGES["lastcall-manager-node"] },
  { target: "webhook", row: IMAGES["lastcall-webhook"] },
] satisfies readonly { target: string; row: ImageRow }[])("the Dockerfile's target $target", ({ target, row }) => {
  test("contains the same files as the image that the tests build", () => {
    expect(copiesOf(target)).toEqual(row.contents);
  });

  test("starts the same program with the same user as the image that the tests build", () => {
    const quotedArgs = row.entrypoint.map((word) => JSON.stringify(word)).join(", ");
    expect(stageOf(target)).toContain(`ENTRYPOINT [${quotedArgs}]`);
    expect(stageOf(target)).toContain(`USER ${IMAGE_USER}`);
    expect(stageOf(target)[0]).toMatch(row.base === "scratch" ? /^FROM scratch AS / : /^FROM \$\{NODE_IMAGE\} AS /);
  });
});
