/** Where Pods find the relay, as text. */
import { isIP } from "node:net";

/**
 * Reads `ADDRESS:PORT`. Brackets may stand around either family and are only kept around IPv6: anyone who fills an
 * address into a template does not know which it will be.
 *
 * @returns `10.96.0.7:443` or `[fd00::7]:443`; `undefined` when it is no IP address with a port
 */
export function readRelayAddress(text: string): string | undefined {
  const parts = /^(?:\[([^[\]]+)\]|([^[\]]+)):([0-9]{1,5})$/.exec(text);
  const address = parts?.[1] ?? parts?.[2] ?? "";
  const port = Number(parts?.[3] ?? 0);
  if (port < 1 || port > 65_535) return undefined;
  const family = address.includes("%") ? 0 : isIP(address);
  if (family === 0) return undefined;
  return family === 6 ? `[${address}]:${port}` : `${address}:${port}`;
}
