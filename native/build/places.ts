/** Where things lie: what the build reads and what it writes. Nothing outside build/native and native/toolchain is written. */
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** The compiler's own package folder with its own lock file, apart from the project's. */
export const TOOLCHAIN = `${ROOT}/native/toolchain`;
export const COMPILER = `${TOOLCHAIN}/node_modules/scriptc/dist/bootstrap.js`;
export const RUNTIME = `${TOOLCHAIN}/node_modules/@scriptc/runtime`;

/** What we change in the runtime, as a patch that fails the build where it does not apply. */
export const RUNTIME_PATCH = `${ROOT}/native/runtime.patch`;

/** What is left out of the TLS library. */
export const TLS_TRIM = `${ROOT}/native/mbedtls-trim.h`;

/** The C library calls that the manager's source declares. */
export const LIBC_BINDINGS = `${ROOT}/native/libc.json`;

/** The C source of the preloaded library. */
export const PRELOAD = `${ROOT}/native/preload`;

/** Its page, which the manager writes. */
export const FLAG_HEADER = `${PRELOAD}/flag.h`;

export const MANAGER_SOURCE = "src/manager/native-main.ts";

/** @param into another folder than the usual one, for builds that are compared */
export function outputFolder(into: string): string {
  return into === "" ? `${ROOT}/build/native` : into;
}

/** How the runtime is compiled: another way makes another runtime. */
export const COMPILE_STEPS = `${ROOT}/native/build/compile.ts`;
