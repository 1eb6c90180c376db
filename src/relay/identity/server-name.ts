/** The server name by which a Pod selects the CA it pins. */
import { type Ca, fingerprintOf } from "../../authority/certificate.ts";

const SERVER_NAME = /^relay-[0-9a-f]{16}\.lastcall\.internal$/;

export function serverNameOf(ca: Pick<Ca, "id">): string {
  return `relay-${fingerprintOf(ca)}.lastcall.internal`;
}

export function isServerName(name: string): boolean {
  return SERVER_NAME.test(name);
}
