/** What users should hear through an Event, and about which object. Pure. */

/** The object an Event is about, as a reference names it. An empty `apiVersion` is left out of the Event. */
export type Owner = { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };

export type Note = {
  readonly namespace: string;
  readonly owner: Owner;
  readonly type: "Normal" | "Warning";
  /** One word in the API's style, such as `NotInjected`. */
  readonly reason: string;
  /** One line of printable text, at most {@link NOTE_LIMIT} characters. */
  readonly message: string;
};

/** Longest message of an Event the API server takes is 1024 bytes. */
export const NOTE_LIMIT = 1_000;

/** What does not look like a reference is none. A node is in no namespace, so nothing can be told to it. */
export function isOwner({ apiVersion, kind, name, uid }: Owner): boolean {
  return (
    /^[a-z0-9./-]{0,253}$/.test(apiVersion) &&
    /^[A-Za-z][A-Za-z0-9]{0,62}$/.test(kind) &&
    /^[a-z0-9][-a-z0-9.]{0,252}$/.test(name) &&
    /^[-0-9A-Za-z]{1,64}$/.test(uid) &&
    kind !== "Node"
  );
}
