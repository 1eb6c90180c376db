import { describe, expect, test } from "vitest";
import { sortByPart } from "./part-order.ts";

const file = (part: string, name = part) => `/home/me/lastcall/test/programs/${part}/${name}.program.ts`;

describe("the parts of a run of test:programs", () => {
  test("start with the installation and end with folders that the list of parts does not contain", () => {
    const files = [file("zeppelin"), file("envoy"), file("servers"), file("install"), file("airship")];
    expect(sortByPart(files)).toEqual([
      file("install"),
      file("servers"),
      file("envoy"),
      file("airship"),
      file("zeppelin"),
    ]);
  });

  test("keep the files of one part together", () => {
    const files = [file("protocols"), file("servers", "idle"), file("servers")];
    expect(sortByPart(files)).toEqual([file("servers", "idle"), file("servers"), file("protocols")]);
  });
});
