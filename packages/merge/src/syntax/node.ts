/** A node of a syntax tree; offsets count characters, the end is exclusive. */
export type Node = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly start: number;
  readonly end: number;
};

export function isNode(value: unknown): value is Node {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    typeof value.type === 'string' &&
    'start' in value &&
    typeof value.start === 'number' &&
    'end' in value &&
    typeof value.end === 'number'
  );
}

/** Returns the nodes that a property holds, be it one, a list of them, or none. */
export function nodesIn(value: unknown): readonly Node[] {
  if (Array.isArray(value)) return value.filter(isNode);
  return isNode(value) ? [value] : [];
}

/** Returns the nodes directly below one, in no particular order. */
export function childrenOf(node: Node): readonly Node[] {
  const children: Node[] = [];
  // Called for every node of a text: plain loops, and no look at what never holds a node.
  for (const name in node) {
    const value = node[name];
    if (typeof value !== 'object' || value === null) continue;
    if (name === 'name' || name === 'loc' || name === 'extra') continue;
    if (Array.isArray(value)) {
      for (const item of value) if (isNode(item)) children.push(item);
    } else if (isNode(value)) children.push(value);
  }
  return children;
}
