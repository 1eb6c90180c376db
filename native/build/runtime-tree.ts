/** Copies the used C files of the compiler's runtime and applies runtime.patch. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { applyPatch, parsePatch } from "diff";
import { BuildError } from "./build-error.ts";
import { FLAG_HEADER, RUNTIME, RUNTIME_PATCH, TLS_TRIM } from "./paths.ts";

/** Matches files for other operating systems, of the embedded JavaScript engine and of unused libraries. */
const EXCLUDED_FILES = /island|\.test\.c$|_win\b|kqueue|wsapoll|curl|scr_library|scr_web|zlib/;

/** Files of QuickJS for regular expressions and numbers. */
const VENDORED_FILES = ["quickjs-ng/libregexp.c", "quickjs-ng/libunicode.c", "quickjs-ng/dtoa.c"];

export const INCLUDE_FOLDERS = ["src", "vendor/mbedtls/include", "vendor/ryu", "vendor/quickjs-ng", "vendor/zlib"];

/** @returns the C files in a stable order */
export function copyRuntime(folder: string): readonly string[] {
  cpSync(RUNTIME, folder, { recursive: true });
  patchRuntime(folder, readFileSync(RUNTIME_PATCH, "utf8"));
  cpSync(TLS_TRIM, `${folder}/src/mbedtls-trim.h`);
  cpSync(FLAG_HEADER, `${folder}/src/preload-flag.h`);
  const runtimeFiles = readdirSync(`${folder}/src`).filter(
    (name) => /^scr_.*\.c$/.test(name) && !EXCLUDED_FILES.test(name),
  );
  const tlsFiles = readdirSync(`${folder}/vendor/mbedtls/library`).filter((name) => name.endsWith(".c"));
  return [
    ...runtimeFiles.map((name) => `src/${name}`),
    ...tlsFiles.map((name) => `vendor/mbedtls/library/${name}`),
    ...VENDORED_FILES.map((name) => `vendor/${name}`),
  ].sort();
}

/** @throws BuildError if a hunk does not apply exactly, because the patch was then not reviewed for this runtime */
export function patchRuntime(folder: string, patch: string): void {
  for (const filePatch of parsePatch(patch)) {
    const name = (filePatch.newFileName ?? "").replace(/^b\//, "");
    const before = readFileSync(`${folder}/${name}`, "utf8");
    const after = applyPatch(before, filePatch, { fuzzFactor: 0 });
    if (after === false)
      throw new BuildError(`native/runtime.patch does not apply to ${name}; review both and update the patch`);
    writeFileSync(`${folder}/${name}`, after);
  }
}
