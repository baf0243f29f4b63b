import type { BinaryNode } from '@whiskeysockets/baileys';

/** The domain of WhatsApp's own queries, and of people known by their phone number. */
export const SERVER = 's.whatsapp.net';

/** Returns a node of WhatsApp's binary XML. */
export function node(
  tag: string,
  attrs: BinaryNode['attrs'] = {},
  content?: BinaryNode['content'],
): BinaryNode {
  return content === undefined ? { tag, attrs } : { tag, attrs, content };
}

/** Returns the answer to a query. */
export function resultOf(iq: BinaryNode, content?: BinaryNode['content']): BinaryNode {
  return node('iq', { id: iq.attrs['id'] ?? '', type: 'result', from: SERVER }, content);
}

/** Children by tag, or all of them. */
export function childrenOf(parent: BinaryNode | undefined, tag?: string): readonly BinaryNode[] {
  const content = Array.isArray(parent?.content) ? parent.content : [];
  return tag === undefined ? content : content.filter((child) => child.tag === tag);
}

/** Returns the first child of that tag. */
export function childOf(parent: BinaryNode | undefined, tag: string): BinaryNode | undefined {
  return childrenOf(parent, tag)[0];
}

/** Returns the bytes that a node carries. */
export function bytesOf(carrier: BinaryNode | undefined): Buffer {
  const content = carrier?.content;
  if (content instanceof Uint8Array) return Buffer.from(content);
  if (typeof content === 'string') return Buffer.from(content);
  throw new Error(`<${carrier?.tag ?? 'nothing'}> carries no bytes`);
}
