/**
 * `node without-port-guard.mjs PROGRAM ARG…`: runs a program without the socket option TCP_DEFER_ACCEPT, so that
 * connections are accepted before their first byte. A seccomp filter refuses the option; it needs no privilege and persists
 * after exec.
 */
import koffi from "koffi";

const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 };
const SETSOCKOPT = { x64: 54, arm64: 208 };
const ENOPROTOOPT = 92;
const PR_SET_SECCOMP = 22;
const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_MODE_FILTER = 2;
const RET_ALLOW = 0x7fff0000;
const RET_ERRNO = 0x00050000;
const LOAD_WORD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const RETURN = 0x06;
const IPPROTO_TCP = 6;
const TCP_DEFER_ACCEPT = 9;
/** Offsets in `struct seccomp_data`: syscall number, architecture, lower halves of the second and third argument. */
const [NUMBER, ARCH, LEVEL, OPTION] = [0, 4, 24, 32];

const args = process.argv.slice(2);
const instructions = [
  [LOAD_WORD, 0, 0, ARCH],
  [JUMP_IF_EQUAL, 0, 7, AUDIT_ARCH[process.arch]],
  [LOAD_WORD, 0, 0, NUMBER],
  [JUMP_IF_EQUAL, 0, 5, SETSOCKOPT[process.arch]],
  [LOAD_WORD, 0, 0, LEVEL],
  [JUMP_IF_EQUAL, 0, 3, IPPROTO_TCP],
  [LOAD_WORD, 0, 0, OPTION],
  [JUMP_IF_EQUAL, 0, 1, TCP_DEFER_ACCEPT],
  [RETURN, 0, 0, RET_ERRNO + ENOPROTOOPT],
  [RETURN, 0, 0, RET_ALLOW],
];
const program = Buffer.alloc(instructions.length * 8);
for (const [at, [code, yes, no, operand]] of instructions.entries()) {
  program.writeUInt16LE(code, at * 8);
  program.writeUInt8(yes, at * 8 + 2);
  program.writeUInt8(no, at * 8 + 3);
  program.writeUInt32LE(operand, at * 8 + 4);
}

const library = koffi.load(null);
koffi.struct("sock_fprog", { instructions: "uint16_t", program: "const uint8_t *" });
const flag = library.func("int prctl(int option, long value, long, long, long)");
const filter = library.func("int prctl(int option, long mode, sock_fprog *program, long, long)");
if (flag(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) !== 0) throw new Error("PR_SET_NO_NEW_PRIVS was refused");
if (filter(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, { instructions: instructions.length, program }, 0, 0) !== 0)
  throw new Error("PR_SET_SECCOMP was refused");
// env searches PATH for the program.
process.execve("/usr/bin/env", ["env", ...args], process.env);
