import { Account } from './account.ts';
import type { WhatsAppGroup } from './group.ts';
import { Person, type PersonOptions } from './person.ts';

/** The account under test, people, and the groups in which they are together. */
export class World {
  readonly account = new Account('4915112345678', '900000000001');
  readonly people: Person[] = [];
  readonly groups: WhatsAppGroup[] = [];
  /** Set before pairing where more than a few people write to the account. */
  isCrowded = false;

  person(options: PersonOptions): Person {
    const person = new Person(options);
    this.people.push(person);
    return person;
  }

  group(
    options: Omit<WhatsAppGroup, 'members'> & { readonly members: readonly Person[] },
  ): WhatsAppGroup {
    const group = { ...options, members: [...options.members, this.account] };
    this.groups.push(group);
    return group;
  }

  /** Gives a group another name, which those learn who ask for it. */
  protected renamed(group: WhatsAppGroup, subject: string): void {
    this.groups.splice(this.groups.indexOf(group), 1, { ...group, subject });
  }

  end(): void {
    for (const { peer } of this.people) peer.close();
    this.account.phone.close();
  }
}
