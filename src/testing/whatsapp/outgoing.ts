import type { BinaryNode, proto } from '@whiskeysockets/baileys';
import { bytesOf, childOf, childrenOf, node } from './node.ts';
import type { Person, ReadMessage } from './people/person.ts';
import type { Directory } from './queries.ts';

/**
 * Delivers a message of the device under test to all recipients, each of which decrypts it.
 *
 * @returns the receipts of those who read it, for the device
 */
export async function deliver(
  directory: Directory,
  stanza: BinaryNode,
): Promise<readonly BinaryNode[]> {
  const { account, people } = directory;
  const { to = '', id = '' } = stanza.attrs;
  const group = directory.groups.find(({ jid }) => jid === to);
  const from = { jid: account.devicePn, ...(group === undefined ? {} : { group: to }) };
  const shared = childrenOf(stanza, 'enc');
  // The phone alone: a group's message is sealed for the device itself too, and that copy is never opened.
  const isPhones = (jid: string) => jid === account.pn || jid === account.lid;
  const own = [...sealedFor(stanza, isPhones), ...shared];
  if (own.length > 0) {
    const message = await account.phone.open(from, own);
    account.phone.heard.push({ id, to, message, text: textOf(message) });
  }
  const receipts: BinaryNode[] = [];
  for (const person of people) {
    const isFor = group?.members.some(({ lid }) => lid === person.lid) ?? person.owns(to);
    if (!isFor) continue;
    const sealed = [...sealedFor(stanza, (jid) => person.owns(jid)), ...shared];
    if (sealed.length === 0) throw new Error(`message ${id} holds nothing for ${person.name}`);
    const message = await person.peer.open(from, sealed);
    person.take({ id, to, message, text: textOf(message) });
    receipts.push(receiptOf({ id, to }, person, group !== undefined));
  }
  return receipts;
}

function textOf(message: proto.IMessage): string {
  return message.conversation ?? message.extendedTextMessage?.text ?? '';
}

function sealedFor(stanza: BinaryNode, isTheirs: (jid: string) => boolean): BinaryNode[] {
  return childrenOf(childOf(stanza, 'participants'), 'to')
    .filter(({ attrs }) => isTheirs(attrs['jid'] ?? ''))
    .flatMap((part) => childrenOf(part, 'enc'))
    .filter((part) => bytesOf(part).length > 0);
}

function receiptOf(
  { id, to }: Pick<ReadMessage, 'id' | 'to'>,
  person: Person,
  isGroup: boolean,
): BinaryNode {
  const t = String(Math.floor(Date.now() / 1000));
  const participant = isGroup ? { participant: person.lid } : {};
  return node('receipt', { id, from: to, t, ...participant });
}
