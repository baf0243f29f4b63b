/** A value that may not be changed, at any depth: results are data to read. */
export type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;
