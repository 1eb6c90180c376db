/** Lists the libraries in the binary, for the notices and the SBOM. A build fails if a version is outdated. */
import { readFileSync } from "node:fs";
import { ROOT, TOOLCHAIN } from "./paths.ts";

export type LinkedPart = {
  readonly name: string;
  readonly version: string;
  /** Shown in the title of its notice. */
  readonly usedFor?: string;
  /** SPDX expression for the linked files. */
  readonly license: string;
  readonly purl: string;
  readonly cpe?: string;
  /** File that contains the licence, as the whole text or as its first comment; relative to the runtime. */
  readonly notice: { readonly file: string; readonly isComment?: true };
  /** A file of the runtime and the text in it that proves the version. */
  readonly versionProof: { readonly file: string; readonly text: string };
};

const QUICKJS_VERSION = "0.15.1";
const MBED_TLS_VERSION = "3.6.7";
/** Commits, because scriptc vendors Ryu and libucontext without a release. */
const RYU_COMMIT = "4c0618b0e44f7ef027ebae05d2cc7812048f7c8f";
const UCONTEXT_COMMIT = "49e671dd52ff6791295d8161ad3b6da7dc5f6f9d";
/** Relative to the runtime. */
const MUSL_SHIM = "./src/scr_musl.c";

export const LINKED_PARTS: readonly LinkedPart[] = [
  {
    name: "quickjs-ng",
    version: QUICKJS_VERSION,
    usedFor: "regular expressions, numbers",
    license: "MIT",
    purl: `pkg:github/quickjs-ng/quickjs@v${QUICKJS_VERSION}`,
    notice: { file: "vendor/quickjs-ng/LICENSE" },
    versionProof: { file: "vendor/README.md", text: `- Version: v${QUICKJS_VERSION}\n` },
  },
  {
    name: "Ryu",
    version: RYU_COMMIT,
    usedFor: "numbers",
    license: "BSL-1.0",
    purl: `pkg:github/ulfjack/ryu@${RYU_COMMIT}`,
    notice: { file: "vendor/ryu/LICENSE-Boost" },
    versionProof: { file: "vendor/README.md", text: `- Commit: ${RYU_COMMIT}\n` },
  },
  {
    name: "Mbed TLS",
    version: MBED_TLS_VERSION,
    usedFor: "linked only where TLS is used",
    license: "Apache-2.0",
    purl: `pkg:github/mbed-tls/mbedtls@mbedtls-${MBED_TLS_VERSION}`,
    cpe: `cpe:2.3:a:arm:mbed_tls:${MBED_TLS_VERSION}:*:*:*:*:*:*:*`,
    notice: { file: "vendor/mbedtls/LICENSE" },
    versionProof: { file: "vendor/mbedtls/include/mbedtls/build_info.h", text: `"Mbed TLS ${MBED_TLS_VERSION}"` },
  },
  {
    name: "libucontext",
    version: UCONTEXT_COMMIT,
    usedFor: "stacks",
    license: "ISC",
    purl: `pkg:github/kaniini/libucontext@${UCONTEXT_COMMIT}`,
    notice: { file: MUSL_SHIM, isComment: true },
    versionProof: { file: MUSL_SHIM, text: UCONTEXT_COMMIT },
  },
];

export const RUNTIME_PACKAGE = "node_modules/@scriptc/runtime";

/** Reads the version from the lock file. */
export function runtimeVersion(): string {
  return JSON.parse(readFileSync(`${TOOLCHAIN}/package-lock.json`, "utf8")).packages[RUNTIME_PACKAGE].version;
}

/** Stored in this repository, because musl comes from Debian and not from the runtime. */
export const MUSL_NOTICE = `${ROOT}/native/licences/musl.txt`;
