/** Implements the shared memory page of the drain flag on Node, with koffi; see `native/runtime.patch` for the native build. */
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { descriptorOf } from "./node-port-guard.ts";
import type { FlagPage } from "./ports.ts";

const PAGE_BYTES = 4_096;
const MFD_CLOEXEC_ALLOW_SEALING = 0x01 + 0x02;
const PROT_READ_WRITE = 0x01 + 0x02;
const MAP_SHARED = 0x01;
const F_ADD_SEALS = 1_033;
/** With these seals only the manager's mapping is writable: processes that receive the page can neither change nor shrink it. */
const SEAL_SEAL_SHRINK_GROW_FUTURE_WRITE = 0x01 + 0x02 + 0x04 + 0x10;
const MSG_DONTWAIT_NOSIGNAL = 0x40 + 0x4000;
const ENOSYS = 38;

/** Values and offsets of `struct flag_page` in `native/preload/flag.h`. */
const FLAG_MARK = 0x31_50_43_4c;
const FLAG_CLOSE = 1;
const FLAG_PORTS = 64;
const MODE_OFFSET = 4;
const COUNT_OFFSET = 5;
const PORTS_OFFSET = 6;
const OWNER_OFFSET = 136;
/** Offsets of the robust futex list (`struct robust_list_head`, three words) and of the only entry in the list. */
const LIST_OFFSET = 144;
const ENTRY_OFFSET = 168;
const LIST_BYTES = 24;
const SET_ROBUST_LIST: Readonly<Record<string, number>> = { x64: 273, arm64: 99 };

export function loadNodeFlagPage(): FlagPage {
  try {
    return bindPage();
  } catch {
    return { open: () => ENOSYS, signalDrain: () => {}, deliveredCount: () => 0, undeliveredCount: () => 0 };
  }
}

function bindPage(): FlagPage {
  // `require`, because a failing static import cannot be caught.
  const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
  const library = koffi.load(null);
  const memfd = library.func("int memfd_create(const char *name, uint32_t flags)");
  const truncate = library.func("int ftruncate(int fd, int64_t length)");
  const control = library.func("int fcntl(int fd, int command, ...)");
  const map = library.func("void *mmap(void *at, size_t length, int protection, int flags, int fd, int64_t offset)");
  koffi.struct("part", { at: "void *", bytes: "size_t" });
  koffi.struct("message", {
    ...{ name: "void *", nameBytes: "uint32_t", parts: "part *", count: "size_t" },
    ...{ control: "void *", controlBytes: "size_t", flags: "int" },
  });
  const send = library.func("intptr_t sendmsg(int fd, message *one, int flags)");
  const call = library.func("long syscall(long number, uintptr_t list, size_t bytes)");
  let page: DataView | undefined;
  let deliveredCount = 0;
  let undeliveredCount = 0;

  /**
   * When this process ends, the kernel sets FUTEX_OWNER_DIED in the page. Preloaded processes then request the next manager's page.
   * The robust list is inside the page, because the OOM killer frees the other memory of this process.
   */
  const setRobustList = (mapped: DataView, at: bigint): void => {
    mapped.setUint32(OWNER_OFFSET, process.pid, true);
    mapped.setBigUint64(ENTRY_OFFSET, at + BigInt(LIST_OFFSET), true);
    mapped.setBigUint64(LIST_OFFSET, at + BigInt(ENTRY_OFFSET), true);
    mapped.setBigInt64(LIST_OFFSET + 8, BigInt(OWNER_OFFSET - ENTRY_OFFSET), true);
    const syscallNumber = SET_ROBUST_LIST[process.arch];
    if (syscallNumber !== undefined) call(syscallNumber, at + BigInt(LIST_OFFSET), LIST_BYTES);
  };

  const sendPage = (receiverFd: number, fd: number): void => {
    const controlMessage = controlMessageOf(fd);
    const parts = [{ at: Buffer.alloc(1), bytes: 1 }];
    const message = {
      name: null,
      nameBytes: 0,
      parts,
      count: 1,
      control: controlMessage,
      controlBytes: controlMessage.length,
      flags: 0,
    };
    if (Number(send(receiverFd, message, MSG_DONTWAIT_NOSIGNAL)) === 1) deliveredCount = deliveredCount + 1;
    else undeliveredCount = undeliveredCount + 1;
  };

  return {
    open: (socket) => {
      const fd = Number(memfd("lastcall", MFD_CLOEXEC_ALLOW_SEALING));
      if (fd < 0 || Number(truncate(fd, PAGE_BYTES)) !== 0) return koffi.errno();
      const at = map(null, PAGE_BYTES, PROT_READ_WRITE, MAP_SHARED, fd, 0);
      if (Number(control(fd, F_ADD_SEALS, "int", SEAL_SEAL_SHRINK_GROW_FUTURE_WRITE)) !== 0) return koffi.errno();
      page = new DataView(koffi.view(at, PAGE_BYTES));
      setRobustList(page, koffi.address(at));
      page.setUint32(0, FLAG_MARK, true);
      const server = createServer((receiver) => {
        sendPage(descriptorOf(receiver), fd);
        receiver.destroy();
      });
      // An error means that another process owns the socket name. Preloaded processes then do not receive this page.
      server.on("error", () => {});
      server.listen({ path: `\0${socket}` });
      return 0;
    },
    signalDrain: (ports) => {
      if (page === undefined || page.getUint8(MODE_OFFSET) === FLAG_CLOSE) return;
      for (const port of ports.slice(0, FLAG_PORTS)) {
        const count = page.getUint8(COUNT_OFFSET);
        page.setUint16(PORTS_OFFSET + 2 * count, port, true);
        page.setUint8(COUNT_OFFSET, count + 1);
      }
      page.setUint8(MODE_OFFSET, FLAG_CLOSE);
    },
    deliveredCount: () => deliveredCount,
    undeliveredCount: () => undeliveredCount,
  };
}

/** Builds a control message that passes one descriptor: length, SOL_SOCKET, SCM_RIGHTS, descriptor. */
function controlMessageOf(fd: number): Buffer {
  const controlMessage = Buffer.alloc(24);
  controlMessage.writeBigUInt64LE(20n, 0);
  controlMessage.writeInt32LE(1, 8);
  controlMessage.writeInt32LE(1, 12);
  controlMessage.writeInt32LE(fd, 16);
  return controlMessage;
}
