/** The inverse: takes out only what injection put in and what still equals it. `pod` shares unchanged parts. */
export type Uninjected = { readonly kind: "not-injected" } | { readonly kind: "uninjected"; readonly pod: object };

export function uninjectPod(_pod: object): Uninjected {
  throw new Error("not built yet");
}
