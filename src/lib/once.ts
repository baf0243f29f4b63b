/** Returns a function that computes its value when it is first called, and then returns the same again. */
export function once<T>(compute: () => T): () => T {
  let computed: { readonly value: T } | null = null;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}
