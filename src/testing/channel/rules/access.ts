import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { addressReaderOf, openAddressBook, senderOn } from '../../../host/address-book.ts';
import { findChat } from '../../../host/groups/chat-list.ts';
import { GroupRefused } from '../../../host/groups/group-refused.ts';
import { openStore } from '../../../store/store.ts';
import type { Bench } from '../bench.ts';
import type { Rule } from '../rule.ts';
import type { RuleName } from '../rule-names.ts';
import { expectSentence } from './words.ts';

/** Words and numbers of the owner's commands that are no address. */
const NOBODY = ['Family', 'USERS', '3', '1234', 'everybody', 'as', '@', '@home', '+', ''];

/** Phone numbers that mean another person in every country. */
const NO_COUNTRY = ['0151 2345678', '(0)151/2345678', '01512345678'];

/** Phone numbers, with their country and without it; digits alone can also be an id. */
const PHONE_NUMBERS = ['+49 151 2345678', '+1 212 555 0123', '491512345678', '2125550123'];

/** Rules about who may write, and about the token. */
export const ACCESS = {
  closed: {
    async check(bench) {
      const { channel, host } = await bench.connect('nobody allowed');
      const { allowSetting } = channel;
      if (allowSetting === undefined) throw new Error('The channel names no `allowSetting`.');
      expect(channel.status().state).toBe('refused');
      expectSentence(bench, channel.status().detail);
      expect(channel.status().detail).toContain(allowSetting);
      await bench.farEnd.sendText('stranger', 'direct', 'let me in');
      const allowed = await bench.restart({ channel, host });
      await bench.say('hello', allowed.host);
      expect(host.offered).toBe(0);
    },
  },

  strangers: {
    async check(bench) {
      const { host } = await bench.connect();
      const { farEnd } = bench;
      await farEnd.sendText('stranger', 'direct', 'let me in');
      if (farEnd.jidOf('group') !== null) {
        await farEnd.sendText('stranger', 'group', 'let me in here');
        await farEnd.sendText('friend', 'group', 'hello all');
        await bench.until('the friend is heard', () => host.messages.length > 0);
      }
      await bench.say('hello', host);
      const isInGroup = farEnd.jidOf('group') !== null;
      expect(host.heard).toEqual(isInGroup ? ['hello all', 'hello'] : ['hello']);
      await bench.until('the stranger is counted', () => host.strangers.length > 0);
      expect(host.strangers).toHaveLength(1);
    },
  },

  addressed: {
    needs: ['friendTyped'],
    async check(bench) {
      const { farEnd } = bench;
      const { channel, host } = await bench.meet();
      const direct = bench.jidOf('direct');
      const said = host.messages.at(-1);
      if (said === undefined) throw new Error('The friend was not heard.');
      const { sender, chatName, isDirect } = said;
      const { peopleOf } = openAddressBook([channel]);
      using unmet = emptyStore();
      using met = emptyStore();
      const seen = { jid: direct, channel: channel.name, name: chatName, isDirect };
      met.store.chats.see({ ...seen, person: sender }, 1);
      for (const typed of farEnd.friendTyped ?? []) {
        const person = channel.personOf?.(typed);
        expect(person, typed).toEqual({ sender, chat: person?.chat === null ? null : direct });
        expect(findChat({ store: met.store, peopleOf }, typed, 'reachable'), typed).toEqual(seen);
        const unknown = person?.chat === null ? null : { ...seen, name: null };
        expect(findChat({ store: unmet.store, peopleOf }, typed, 'reachable'), typed).toEqual(
          unknown,
        );
      }
      const group = farEnd.jidOf('group');
      for (const typed of [...NOBODY, ...(group === null ? [] : [group])]) {
        expect(channel.personOf?.(typed) ?? null, typed).toBeNull();
        expect(findChat({ store: unmet.store, peopleOf }, typed, 'reachable'), typed).toBeNull();
      }
      const reader = addressReaderOf(channel);
      const hasNumbers = farEnd.friendTyped?.some((one) => one.startsWith('+')) === true;
      for (const typed of NO_COUNTRY) {
        expect(channel.personOf?.(typed) ?? null, typed).toBeNull();
        expect(findChat({ store: unmet.store, peopleOf }, typed, 'reachable'), typed).toBeNull();
        expect(() => senderOn(reader, typed), typed).toThrow(GroupRefused);
        const missing = reader.missingIn(typed);
        if (hasNumbers) expect(missing).toContain('type +');
        if (missing !== null) expectSentence(bench, missing);
      }
      for (const typed of PHONE_NUMBERS) {
        const person = channel.personOf?.(typed) ?? null;
        const missing = reader.missingIn(typed);
        if (hasNumbers && person !== null) {
          expect(person.sender, typed).toContain(typed.replace(/\D/g, ''));
          expect(missing, typed).toBeNull();
          continue;
        }
        if (hasNumbers) expect(typed).not.toMatch(/^\+/);
        // Where people have no phone numbers, none means somebody who has not written.
        expect(findChat({ store: unmet.store, peopleOf }, typed, 'reachable'), typed).toBeNull();
        expect(() => senderOn(reader, typed), typed).toThrow(GroupRefused);
        if (person !== null) expect(missing, `${typed} is guessed`).toContain('type ');
        if (missing !== null) expectSentence(bench, missing);
      }
      for (const typed of [...NOBODY, ...(farEnd.friendTyped ?? [])]) {
        expect(reader.missingIn(typed), typed).toBeNull();
      }
    },
  },

  status: {
    async check(bench) {
      const first = await bench.connect();
      const { channel, host } = first;
      await bench.until('it is connected', () => channel.status().state === 'connected');
      await bench.say('hello', host);
      await bench.disconnect(channel);
      await channel.disconnect();
      expect(channel.status().state).toBe('stopped');
      for (const { detail } of host.statuses) if (detail !== null) expectSentence(bench, detail);
      const message = { id: 'm1', jid: bench.jidOf('direct'), text: 'anyone?' };
      await expect(channel.send(message), 'nothing is sent while it is stopped').rejects.toThrow();
      const again = await bench.connect();
      await bench.say('hello again', again.host);
      expectNoSecrets(bench, again.host.statuses);
    },
  },

  'wrong token': {
    async check(bench) {
      const { channel, host } = await bench.connect('wrong token');
      expect(channel.status().state).toBe('refused');
      expectSentence(bench, channel.status().detail);
      const { tokenSetting } = bench.subject;
      if (tokenSetting !== undefined) expect(channel.status().detail).toContain(tokenSetting);
      expectNoSecrets(bench, host.statuses);
    },
  },

  'revoked token': {
    needs: ['revoke'],
    async check(bench) {
      const { channel, host } = await bench.meet();
      await bench.farEnd.revoke?.();
      await bench.until('it is refused', () => channel.status().state === 'refused');
      expectSentence(bench, channel.status().detail);
      expectNoSecrets(bench, host.statuses);
    },
  },
} as const satisfies Partial<Record<RuleName, Rule>>;

function expectNoSecrets(bench: Bench, statuses: readonly unknown[]): void {
  const told = `${JSON.stringify(statuses)} ${bench.log.join('\n')}`;
  for (const secret of bench.farEnd.secrets ?? []) {
    expect(told.includes(secret), 'a token is in a status or the log').toBe(false);
  }
}

function emptyStore() {
  const folder = mkdtempSync(join(tmpdir(), 'claw-channel-store-'));
  const store = openStore({ path: join(folder, 'claw.db'), now: 1 });
  return {
    store,
    [Symbol.dispose]: () => {
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
