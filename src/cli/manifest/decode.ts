/** Decodes a manifest as UTF-8. */

type DecodedManifest =
  | { readonly ok: true; readonly text: string; readonly byteOrderMark: string }
  | { readonly ok: false; readonly message: string };

const BYTE_ORDER_MARK = "\ufeff";

export function decodeManifest(bytes: Uint8Array): DecodedManifest {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return { ok: false, message: "the text is UTF-16; save it as UTF-8" };
  }
  if (bytes.includes(0)) return { ok: false, message: "this is binary data, not a YAML or JSON manifest" };
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith(BYTE_ORDER_MARK)
      ? { ok: true, text: text.slice(1), byteOrderMark: BYTE_ORDER_MARK }
      : { ok: true, text, byteOrderMark: "" };
  } catch {
    return { ok: false, message: "the text is not UTF-8; save it as UTF-8" };
  }
}
