import type { WhatsAppGroup } from '../../src/testing/whatsapp/people/group.ts';
import type { Person } from '../../src/testing/whatsapp/people/person.ts';
import type { WhatsAppServer } from '../../src/testing/whatsapp/server.ts';
import type { Plan, PlannedChat, PlannedMessage } from './plan.ts';

/** A message that came out of the assistant, as its first reader saw it. */
export type Heard = { readonly id: string; readonly text: string };

/** The people and groups of a plan on the WhatsApp server, and what they hear. */
export class Town {
  readonly strangers: readonly [Person, Person];
  readonly #server: WhatsAppServer;
  readonly #people: readonly Person[];
  readonly #groups: ReadonlyMap<PlannedChat, WhatsAppGroup>;

  constructor(server: WhatsAppServer, plan: Plan) {
    this.#server = server;
    this.#people = Array.from({ length: 12 }, (_, index) => person(server, index));
    this.strangers = [person(server, 20), person(server, 21)];
    this.#groups = new Map(
      plan.chats.map((chat) => {
        const jid = `1203630000000000${String(chat.index).padStart(2, '0')}@g.us`;
        const addressing = 'lid';
        const group = { jid, subject: chat.name, addressing } as const;
        return [chat, server.group({ ...group, members: this.membersOf(chat) })];
      }),
    );
  }

  membersOf({ index }: PlannedChat): readonly [Person, Person] {
    const first = this.#people[index % 12];
    const second = this.#people[(index + 1 + (index % 5)) % 12];
    if (first === undefined || second === undefined) throw new Error('nobody there');
    return [first, second];
  }

  async say({ chat, speaker, text, as }: PlannedMessage): Promise<void> {
    const group = this.#groups.get(chat);
    if (group === undefined) throw new Error(`no group ${chat.name}`);
    await this.#server.say(this.membersOf(chat)[speaker], text, { group, as });
  }

  /** Returns the assistant's messages in a chat. One that came twice counts once, as on a phone. */
  heardIn(chat: PlannedChat): readonly Heard[] {
    const jid = this.#groups.get(chat)?.jid;
    return onceEach(this.membersOf(chat)[0].read.filter(({ to }) => to === jid));
  }

  /** Returns the assistant's direct messages to people, none of which is allowed. */
  heardDirectly(): readonly Heard[] {
    const all = [...this.#people, ...this.strangers].flatMap(({ read }) => read);
    return onceEach(all.filter(({ to }) => !to.endsWith('@g.us')));
  }

  /** Returns the texts in the owner's own chat. */
  heardByOwner(): readonly string[] {
    const { phone, pn, lid } = this.#server.account;
    const own = phone.heard.filter(({ to }) => to === pn || to === lid);
    return onceEach(own).map(({ text }) => text);
  }

  sayAsOwner(text: string): Promise<string> {
    return this.#server.sayOnPhone(text);
  }
}

function person(server: WhatsAppServer, index: number): Person {
  const number = String(index).padStart(3, '0');
  return server.person({
    phoneNumber: `49151555${number}00`,
    lidNumber: `1000000${number}00`,
    name: `Person ${index}`,
  });
}

/** Reads messages as a phone shows them: one that came twice is one, and an edit changes the one that it is of. */
function onceEach(messages: Person['read']): readonly Heard[] {
  const texts = new Map<string, string>();
  for (const { id, message, text } of messages) {
    const { key, editedMessage } = message.protocolMessage ?? {};
    if (editedMessage == null) texts.set(id, text);
    else texts.set(key?.id ?? id, editedMessage.extendedTextMessage?.text ?? '');
  }
  return [...texts].map(([id, text]) => ({ id, text }));
}
