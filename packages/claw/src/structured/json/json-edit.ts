import type { Node } from 'jsonc-parser';
import { parseTree } from 'jsonc-parser';
import { membersOf, textOf, valueAt } from './json-text.ts';

/** Returns the index of a new key among the present ones. */
export type Placement = (keys: readonly string[]) => number;

/**
 * Sets the value at a path, making the objects on the way. Every character outside the value, or outside the
 * one new member and its comma, stays unchanged.
 *
 * @param text strict JSON with an object at its root
 * @param value JSON text; formatted in the file's own indentation if it spans lines
 */
export function setValue(
  text: string,
  path: readonly string[],
  { value, place }: { readonly value: string; readonly place: Placement },
): string {
  const root = rootOf(text);
  const present = valueAt(root, path);
  if (present !== null) return splice(text, present, layOut(value, text, present.offset));

  let depth = path.length - 1;
  while (depth > 0 && valueAt(root, path.slice(0, depth))?.type !== 'object') depth -= 1;
  const parentPath = path.slice(0, depth);
  const parent = valueAt(root, parentPath);
  // Something else than an object is in the way: the caller asked for a path that cannot be.
  if (parent?.type !== 'object') return text;
  if (valueAt(root, path.slice(0, depth + 1)) !== null) return text;
  const [key = '', ...inner] = path.slice(depth);
  const nested = inner.reduceRight((json, name) => `{\n${JSON.stringify(name)}: ${json}\n}`, value);
  const at =
    inner.length > 0 ? (parent.children?.length ?? 0) : place([...membersOf(parent).keys()]);
  return insertChild(text, parent, { at, key, value: nested });
}

/** Takes a member out, with the comma and the line break that belong to it. */
export function removeValue(text: string, path: readonly string[]): string {
  const property = valueAt(rootOf(text), path)?.parent;
  const siblings = property?.parent?.children ?? [];
  if (property === undefined || property.parent === undefined) return text;
  const at = siblings.indexOf(property);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  if (before === undefined && after === undefined) return splice(text, property.parent, '{}');
  const start = after === undefined && before !== undefined ? endOf(before) : property.offset;
  const end = after?.offset ?? endOf(property);
  return text.slice(0, start) + text.slice(end);
}

/** Inserts an item into the array at a path; the array must exist. */
export function insertItem(
  text: string,
  path: readonly string[],
  item: { readonly at: number; readonly value: string },
): string {
  const array = valueAt(rootOf(text), path);
  return array?.type === 'array' ? insertChild(text, array, { ...item, key: null }) : text;
}

/** Takes an item out of the array at a path, with its comma. */
export function removeItem(text: string, path: readonly string[], at: number): string {
  const array = valueAt(rootOf(text), path);
  const items = array?.children ?? [];
  const item = items[at];
  if (array === null || item === undefined) return text;
  if (items.length === 1) return splice(text, array, '[]');
  const [before, after] = [items[at - 1], items[at + 1]];
  const start = after === undefined && before !== undefined ? endOf(before) : item.offset;
  return text.slice(0, start) + text.slice(after?.offset ?? endOf(item));
}

function insertChild(
  text: string,
  parent: Node,
  child: { readonly at: number; readonly key: string | null; readonly value: string },
): string {
  const siblings = parent.children ?? [];
  const [first] = siblings;
  const eol = eolOf(text);
  const label = child.key === null ? '' : `${JSON.stringify(child.key)}: `;
  if (first === undefined) {
    const outer = indentAt(text, parent.offset);
    const inner = outer + unitOf(text);
    const [open, close] = parent.type === 'array' ? ['[', ']'] : ['{', '}'];
    const content = label + layOutAt(child.value, { unit: unitOf(text), indent: inner, eol });
    return splice(text, parent, `${open}${eol}${inner}${content}${eol}${outer}${close}`);
  }
  const lead = text.slice(parent.offset + 1, first.offset);
  const isBlock = lead.includes('\n');
  const indent = isBlock ? lead.slice(lead.lastIndexOf('\n') + 1) : indentAt(text, parent.offset);
  const content = label + layOutAt(child.value, { unit: unitOf(text), indent, eol });
  const gap = isBlock ? `${eol}${indent}` : ' ';
  const next = siblings[child.at];
  if (next !== undefined) {
    return `${text.slice(0, next.offset)}${content},${gap}${text.slice(next.offset)}`;
  }
  const end = endOf(siblings.at(-1) ?? first);
  return `${text.slice(0, end)},${gap}${content}${text.slice(end)}`;
}

type Layout = { readonly unit: string; readonly indent: string; readonly eol: string };

function layOut(value: string, text: string, offset: number): string {
  return layOutAt(value, { unit: unitOf(text), indent: indentAt(text, offset), eol: eolOf(text) });
}

/** Formats a value: one line stays as written, several lines get the file's indentation. */
function layOutAt(value: string, layout: Layout): string {
  return layOutNode(rootOf(value), value, layout);
}

function layOutNode(node: Node, source: string, layout: Layout): string {
  const raw = textOf(source, node);
  const children = node.children ?? [];
  if (!raw.includes('\n') || children.length === 0) return raw;
  const { unit, indent, eol } = layout;
  const inner = { ...layout, indent: indent + unit };
  const lines = children.map((child) => {
    const [key, value] = child.type === 'property' ? (child.children ?? []) : [];
    return key === undefined || value === undefined
      ? `${inner.indent}${layOutNode(child, source, inner)}`
      : `${inner.indent}${textOf(source, key)}: ${layOutNode(value, source, inner)}`;
  });
  const [open, close] = node.type === 'array' ? ['[', ']'] : ['{', '}'];
  return `${open}${eol}${lines.join(`,${eol}`)}${eol}${indent}${close}`;
}

function rootOf(text: string): Node {
  const root = parseTree(text);
  if (root === undefined) throw new TypeError('only JSON that was read before can be edited');
  return root;
}

function splice(text: string, node: Node, content: string): string {
  return text.slice(0, node.offset) + content + text.slice(endOf(node));
}

function endOf(node: Node): number {
  return node.offset + node.length;
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function unitOf(text: string): string {
  return /^\{\r?\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
}
