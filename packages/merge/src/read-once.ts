/** Makes a reader that reads each text once: one merge asks for its lines and texts again and again. */
export function readOnce<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, { readonly value: T }>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before.value;
    const value = read(text);
    known.set(text, { value });
    return value;
  };
}
