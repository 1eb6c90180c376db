/** The name by which a Pod asks TLS for the CA generation it was given. */

const SERVER_NAME = /^relay-([0-9a-f]{16})\.lastcall\.internal$/;

export function serverNameOf(generation: string): string {
  return `relay-${generation}.lastcall.internal`;
}

/** The generation a name asks for; `undefined` when the name is no relay's. */
export function generationIn(serverName: string): string | undefined {
  return SERVER_NAME.exec(serverName)?.[1];
}
