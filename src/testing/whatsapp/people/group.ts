import type { BinaryNode } from '@whiskeysockets/baileys';
import { node } from '../node.ts';

/** A group that the account under test is in, with everybody's two addresses. */
export type WhatsAppGroup = {
  readonly jid: string;
  readonly subject: string;
  /** The kind of address by which the group names its members. */
  readonly addressing: 'lid' | 'pn';
  readonly members: readonly Member[];
};

type Member = { readonly pn: string; readonly lid: string };

/** Returns the description of a group as in `w:g2`. */
export function groupNode({ jid, subject, addressing, members }: WhatsAppGroup): BinaryNode {
  const [id = jid] = jid.split('@');
  const attrs = { id, subject, addressing_mode: addressing, s_t: '1', creation: '1' };
  const participants = members.map(({ pn, lid }) =>
    addressing === 'lid'
      ? node('participant', { jid: lid, phone_number: pn })
      : node('participant', { jid: pn, lid }),
  );
  return node('group', attrs, participants);
}
