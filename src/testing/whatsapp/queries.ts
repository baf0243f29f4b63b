import type { BinaryNode } from '@whiskeysockets/baileys';
import { UPLOAD_AUTH } from './connection/loopback.ts';
import { childOf, childrenOf, node, resultOf } from './node.ts';
import type { Account } from './people/account.ts';
import { groupNode, type WhatsAppGroup } from './people/group.ts';
import { readUpload } from './people/key-bundle.ts';
import type { Person } from './people/person.ts';

/** People and groups that the server knows. */
export type Directory = {
  readonly account: Account;
  readonly people: readonly Person[];
  readonly groups: readonly WhatsAppGroup[];
  /** True lets the device leave one-time keys for hundreds of people instead of a few. */
  readonly isCrowded: boolean;
  /** The place that takes uploads: `127.0.0.1:` and a port. */
  readonly filesHost: string;
};

/** Answers a query as WhatsApp does, as far as a client needs it; anything else gets an empty result. */
export async function answer(directory: Directory, iq: BinaryNode): Promise<BinaryNode> {
  switch (iq.attrs['xmlns']) {
    case 'encrypt':
      return await answerEncrypt(directory, iq);
    case 'usync':
      return resultOf(iq, usync(directory, iq));
    case 'w:m': {
      const host = node('host', { hostname: directory.filesHost });
      return resultOf(iq, [node('media_conn', { auth: UPLOAD_AUTH, ttl: '300' }, [host])]);
    }
    case 'w:g2':
      return resultOf(iq, groups(directory, iq));
    default:
      return resultOf(iq);
  }
}

async function answerEncrypt(directory: Directory, iq: BinaryNode): Promise<BinaryNode> {
  const { account, isCrowded } = directory;
  if (childOf(iq, 'count') !== undefined) {
    // To zero the client answers with 812 keys, which every test would wait for; to little with five.
    const value = String(Math.max(account.keys?.preKeys.length ?? 0, isCrowded ? 0 : 1));
    return resultOf(iq, [node('count', { value })]);
  }
  if (childOf(iq, 'digest') !== undefined) return resultOf(iq, [node('digest')]);
  const asked = childOf(iq, 'key');
  if (asked !== undefined) {
    const jids = childrenOf(asked, 'user').map(({ attrs }) => attrs['jid'] ?? '');
    const users = await Promise.all(jids.map((jid) => deviceBundle(directory, jid)));
    return resultOf(iq, [node('list', {}, users)]);
  }
  if (childOf(iq, 'identity') !== undefined) {
    const uploaded = readUpload(iq);
    account.keys = {
      ...uploaded,
      preKeys: [...(account.keys?.preKeys ?? []), ...uploaded.preKeys],
    };
  }
  return resultOf(iq);
}

/** Both addresses of a person lead to the same keys: sessions would break otherwise. */
function deviceBundle({ account, people }: Directory, jid: string): Promise<BinaryNode> {
  const peer = account.owns(jid) ? account.phone : people.find((one) => one.owns(jid))?.peer;
  if (peer === undefined) throw new Error(`nobody has the address ${jid}`);
  return peer.bundle(jid);
}

function usync({ account, people }: Directory, iq: BinaryNode): BinaryNode[] {
  const asked = childOf(iq, 'usync');
  const wanted = childrenOf(childOf(asked, 'query')).map(({ tag }) => tag);
  const users = childrenOf(childOf(asked, 'list'), 'user').flatMap(({ attrs }) => {
    const jid = attrs['jid'] ?? '';
    const known = account.owns(jid) ? account : people.find((one) => one.owns(jid));
    if (known === undefined) return [];
    const devices = known === account ? account.devices : [0];
    const content = [
      ...(wanted.includes('devices') ? [devicesNode(devices)] : []),
      ...(wanted.includes('lid') && !jid.endsWith('@lid') ? [node('lid', { val: known.lid })] : []),
    ];
    return [node('user', { jid }, content)];
  });
  return [node('usync', {}, [node('list', {}, users)])];
}

function devicesNode(devices: readonly number[]): BinaryNode {
  const list = devices.map((id) =>
    node('device', id === 0 ? { id: '0' } : { id: String(id), 'key-index': '1' }),
  );
  return node('devices', {}, [node('device-list', {}, list)]);
}

function groups({ groups: all }: Directory, iq: BinaryNode): BinaryNode[] {
  if (iq.attrs['to'] === '@g.us') return [node('groups', {}, all.map(groupNode))];
  const group = all.find(({ jid }) => jid === iq.attrs['to']);
  if (group === undefined) return [node('error', { code: '404', text: 'item-not-found' })];
  return [groupNode(group)];
}
