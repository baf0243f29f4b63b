import type { GroupMetadata, WASocket } from '@whiskeysockets/baileys';
import type { KnownChat } from '../../channel.ts';
import type { Addresses } from './addresses.ts';

/** Names of people and groups, as far as WhatsApp has told them since the start. */
export class Names {
  readonly #addresses: Addresses;
  readonly #tell: (chat: KnownChat) => void;
  readonly #onLearnt: () => void;
  readonly #people = new Map<string, string>();
  readonly #groups = new Map<string, string>();
  readonly #members = new Map<string, GroupMetadata>();

  /** @param onLearnt called when something new is known of who has which address */
  constructor(addresses: Addresses, tell: (chat: KnownChat) => void, onLearnt: () => void) {
    this.#addresses = addresses;
    this.#tell = tell;
    this.#onLearnt = onLearnt;
  }

  personOf(chat: string): string | null {
    return this.#people.get(chat) ?? null;
  }

  groupOf(jid: string): string | null {
    return this.#groups.get(jid) ?? null;
  }

  /** Saves a question to the server before each message to a group. */
  membersOf(jid: string): GroupMetadata | undefined {
    return this.#members.get(jid);
  }

  /** Keeps up with what a connection says of names and of who has which address. */
  follow({ ev }: WASocket): void {
    ev.on('groups.upsert', (groups) => this.#takeGroups(groups));
    ev.on('groups.update', (groups) => this.#takeGroups(groups));
    ev.on('group-participants.update', ({ id }) => void this.#members.delete(id));
    ev.on('lid-mapping.update', ({ lid, pn }) => {
      this.#addresses.join(pn, lid);
      this.#onLearnt();
    });
    ev.on('contacts.update', (contacts) => {
      for (const { id, notify } of contacts) {
        if (id && notify) this.#people.set(this.#addresses.find(id) ?? id, notify);
      }
    });
  }

  #takeGroups(groups: readonly Partial<GroupMetadata>[]): void {
    for (const group of groups) {
      const { id: jid, subject } = group;
      if (jid === undefined) continue;
      this.#members.delete(jid);
      if (isWhole(group)) this.#members.set(jid, group);
      for (const { id, lid, phoneNumber } of group.participants ?? []) {
        const other = lid ?? phoneNumber;
        if (other) this.#addresses.join(id, other);
      }
      this.#onLearnt();
      if (subject === undefined || this.#groups.get(jid) === subject) continue;
      this.#groups.set(jid, subject);
      this.#tell({ jid, name: subject, isDirect: false });
    }
  }
}

function isWhole(group: Partial<GroupMetadata>): group is GroupMetadata {
  return group.participants !== undefined && group.addressingMode !== undefined;
}
