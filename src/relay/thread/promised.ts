/** A promise that is kept from outside. */
export type Promised<T> = { readonly promise: Promise<T>; readonly resolve: (value: T) => void };

export function promised<T>(): Promised<T> {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((keep) => {
    resolve = keep;
  });
  return { promise, resolve: (value) => resolve(value) };
}
