const PREFIX = 'email:';
/** The part of a group's address after the plus: `family` of `andy+family@example.org`. */
const TAG = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** A chat of the channel: one person's mail, or the group of a plus-address. */
export type MailChat =
  | { readonly kind: 'person'; readonly address: string }
  | { readonly kind: 'group'; readonly tag: string };

/** Returns the chat's address for the host: `email:ada@example.org`, or `email:+family`. */
export function jidOf(chat: MailChat): string {
  return `${PREFIX}${chat.kind === 'person' ? chat.address : `+${chat.tag}`}`;
}

/** Reads a chat's address; null where it is not this channel's. */
export function chatIn(jid: string): MailChat | null {
  if (!jid.startsWith(PREFIX)) return null;
  const rest = jid.slice(PREFIX.length);
  // Somebody's own address may begin with a plus as well.
  if (rest.startsWith('+') && !rest.includes('@')) return { kind: 'group', tag: rest.slice(1) };
  return { kind: 'person', address: rest };
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

/** Returns the tag of one of the assistant's own addresses: empty for the plain one, null for anybody else's. */
export function tagOf(own: string, address: string): string | null {
  const small = address.toLowerCase();
  if (small === own) return '';
  const at = own.lastIndexOf('@');
  const [local, domain] = [own.slice(0, at), own.slice(at)];
  if (!small.startsWith(`${local}+`) || !small.endsWith(domain)) return null;
  const tag = small.slice(local.length + 1, -domain.length);
  return TAG.test(tag) ? tag : '';
}

/** Returns the assistant's address for a chat: the plus-address for a group. */
export function ownAddressFor(own: string, chat: MailChat): string {
  if (chat.kind === 'person') return own;
  const at = own.lastIndexOf('@');
  return `${own.slice(0, at)}+${chat.tag}${own.slice(at)}`;
}
