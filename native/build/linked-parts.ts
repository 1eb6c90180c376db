/** Lists the libraries in the binary, for the notices and the SBOM. A build fails if a version is outdated. */
import { readFileSync } from "node:fs";
import { ROOT, TOOLCHAIN } from "./places.ts";

export type LinkedPart = {
  readonly name: string;
  readonly version: string;
  /** Part of the title in the notices. */
  readonly use?: string;
  /** SPDX expression of the used part. */
  readonly license: string;
  readonly purl: string;
  readonly cpe?: string;
  /** File with the licence, or whose first comment is the licence; relative to the runtime. */
  readonly notice: { readonly file: string; readonly isComment?: true };
  /** File of the runtime that contains the version, and the text to find. */
  readonly proof: { readonly file: string; readonly text: string };
};

const QUICKJS = "0.15.1";
const MBED_TLS = "3.6.7";
/** scriptc does not name a release of Ryu and libucontext. */
const RYU = "4c0618b0e44f7ef027ebae05d2cc7812048f7c8f";
const UCONTEXT = "49e671dd52ff6791295d8161ad3b6da7dc5f6f9d";
/** Relative to the runtime. */
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

/** From the lock file. */
export function runtimeVersion(): string {
  return JSON.parse(readFileSync(`${TOOLCHAIN}/package-lock.json`, "utf8")).packages[RUNTIME_PACKAGE].version;
}

/** Stored here, because musl comes from Debian. */
export const MUSL_NOTICE = `${ROOT}/native/licences/musl.txt`;
