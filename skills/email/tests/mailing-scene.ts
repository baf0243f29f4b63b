import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { channel } from '../../../src/channels/email.ts';
import { openOwnDatabases } from '../../../src/store/own-databases.ts';
import type { TestProject } from '../../../src/testing/assistant.ts';
import type { Scene } from '../../../src/testing/turn/interrupted-actions.ts';
import { ADA, settingsOf } from './fixtures.ts';
import { MailServer } from './mail-server.ts';

const JID = `email:${ADA}`;
const servers = new Map<string, MailServer>();

/** Returns the ids of mails that went out with a text. Many mailboxes show one id once. */
export function mailsWith(text: string, { dir }: TestProject): ReadonlySet<string> {
  const posted = servers.get(dir)?.posted.filter(({ source }) => source.includes(text)) ?? [];
  return new Set(posted.map(({ source }) => /Message-ID: (<[^>]+>)/.exec(source)?.[1] ?? ''));
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setTimeout(20);
}

/** An assistant with a mail account; the chat with Ada is registered and empty. */
export const scene: Scene = {
  async prepare({ dir }) {
    const server = await new MailServer().comeUp();
    servers.set(dir, server);
    writeFileSync(join(dir, 'mail.json'), JSON.stringify(settingsOf(server)));
    return server;
  },
  partsFor(dir, agent) {
    const settings = JSON.parse(readFileSync(join(dir, 'mail.json'), 'utf8'));
    const dataDir = join(dir, 'data');
    const opened = channel.open(settings, {
      assistantName: 'Andy',
      dataDir,
      log: { info() {}, warn() {} },
      ownerConsole: null,
      openDatabase: openOwnDatabases({ dataDir, now: Date.now }).of('channel', 'email'),
      clock: {
        now: Date.now,
        random: () => 0,
        pause: (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => {}),
      },
    });
    if (opened.kind !== 'made' || opened.value === null) throw new Error('There is no account.');
    return { agent, channels: [opened.value] };
  },
  async ready({ store, terminal }) {
    if (store.groups.byJid(JID) !== null) return;
    store.chats.see({ jid: JID, name: ADA, isDirect: true, channel: 'email' }, Date.now());
    await terminal.say(`/register ${ADA}`);
    await until(() => store.groups.byJid(JID) !== null);
  },
};
