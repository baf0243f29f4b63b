/** A value that nobody may change, at any depth: results are data to read. */
export type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;
