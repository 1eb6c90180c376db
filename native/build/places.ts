/** Paths that the build reads and writes. It writes to build/native and native/toolchain only. */
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** The compiler's package folder, with its own lock file. */
export const TOOLCHAIN = `${ROOT}/native/toolchain`;
export const COMPILER = `${TOOLCHAIN}/node_modules/scriptc/dist/bootstrap.js`;
export const RUNTIME = `${TOOLCHAIN}/node_modules/@scriptc/runtime`;

/** Changes of the runtime; the build fails if a hunk does not apply. */
export const RUNTIME_PATCH = `${ROOT}/native/runtime.patch`;

/** Features that are disabled in the TLS library. */
export const TLS_TRIM = `${ROOT}/native/mbedtls-trim.h`;

/** C library calls that the manager's source declares. */
export const LIBC_BINDINGS = `${ROOT}/native/libc.json`;

/** The C source of the preloaded library. */
export const PRELOAD = `${ROOT}/native/preload`;

/** Layout of the flag page, shared with the manager. */
export const FLAG_HEADER = `${PRELOAD}/flag.h`;

export const MANAGER_SOURCE = "src/manager/native-main.ts";

/** @param into output folder; empty for the usual one */
export function outputFolder(into: string): string {
  return into === "" ? `${ROOT}/build/native` : into;
}

/** An input of the runtime's build, like the C source. */
export const COMPILE_STEPS = `${ROOT}/native/build/compile.ts`;
