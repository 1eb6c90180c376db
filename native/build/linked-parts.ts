/** What is linked into the binary, as data. The notices and the SBOM are written from it; a build fails where it is outdated. */
import { readFileSync } from "node:fs";
import { ROOT, TOOLCHAIN } from "./places.ts";

export type LinkedPart = {
  readonly name: string;
  readonly version: string;
  /** Completes its title in the notices. */
  readonly use?: string;
  /** SPDX expression, as the part is used here. */
  readonly license: string;
  readonly purl: string;
  readonly cpe?: string;
  /** From the runtime's folder: the file with its licence, or whose first comment is that. */
  readonly notice: { readonly file: string; readonly isComment?: true };
  /** A file of the runtime that names the version, and how. */
  readonly proof: { readonly file: string; readonly text: string };
};

const QUICKJS = "0.15.1";
const MBED_TLS = "3.6.7";
/** Ryu and libucontext have no releases that scriptc names. */
const RYU = "4c0618b0e44f7ef027ebae05d2cc7812048f7c8f";
const UCONTEXT = "49e671dd52ff6791295d8161ad3b6da7dc5f6f9d";
/** From the runtime's folder, not from ours. */
const MUSL_SHIM = "./src/scr_musl.c";

export const LINKED_PARTS: readonly LinkedPart[] = [
  {
    name: "quickjs-ng",
    version: QUICKJS,
    use: "regular expressions, numbers",
    license: "MIT",
    purl: `pkg:github/quickjs-ng/quickjs@v${QUICKJS}`,
    notice: { file: "vendor/quickjs-ng/LICENSE" },
    proof: { file: "vendor/README.md", text: `- Version: v${QUICKJS}\n` },
  },
  {
    name: "Ryu",
    version: RYU,
    use: "numbers",
    license: "BSL-1.0",
    purl: `pkg:github/ulfjack/ryu@${RYU}`,
    notice: { file: "vendor/ryu/LICENSE-Boost" },
    proof: { file: "vendor/README.md", text: `- Commit: ${RYU}\n` },
  },
  {
    name: "Mbed TLS",
    version: MBED_TLS,
    use: "linked only where TLS is used",
    license: "Apache-2.0",
    purl: `pkg:github/mbed-tls/mbedtls@mbedtls-${MBED_TLS}`,
    cpe: `cpe:2.3:a:arm:mbed_tls:${MBED_TLS}:*:*:*:*:*:*:*`,
    notice: { file: "vendor/mbedtls/LICENSE" },
    proof: { file: "vendor/mbedtls/include/mbedtls/build_info.h", text: `"Mbed TLS ${MBED_TLS}"` },
  },
  {
    name: "libucontext",
    version: UCONTEXT,
    use: "stacks",
    license: "ISC",
    purl: `pkg:github/kaniini/libucontext@${UCONTEXT}`,
    notice: { file: MUSL_SHIM, isComment: true },
    proof: { file: MUSL_SHIM, text: UCONTEXT },
  },
];

export const RUNTIME_PACKAGE = "node_modules/@scriptc/runtime";

/** Of the runtime that the lock file names. */
export function runtimeVersion(): string {
  return JSON.parse(readFileSync(`${TOOLCHAIN}/package-lock.json`, "utf8")).packages[RUNTIME_PACKAGE].version;
}

/** musl comes from Debian, so its licence lies here. */
export const MUSL_NOTICE = `${ROOT}/native/licences/musl.txt`;
