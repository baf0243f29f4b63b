import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openStore } from '../store/store.ts';
import { completionsOf } from './command-completion.ts';
import { discoverCommands, openCommands } from './contracts/command.ts';

const { commands } = openCommands(await discoverCommands(), {});

/** A tree with two skills, a registered chat, and one that is known. */
function bench() {
  const projectDir = mkdtempSync(join(tmpdir(), 'claw-complete-'));
  const store = openStore({ path: join(projectDir, 'claw.db'), now: 1 });
  for (const [jid, name] of [
    ['a@g.us', 'Family Chat'],
    ['b@g.us', 'Book Club'],
    ['c@g.us', 'two\nlines'],
  ] as const) {
    store.chats.see({ jid, channel: 'whatsapp', name, isDirect: false }, 1);
  }
  const trigger = { needsTrigger: false, triggerWord: null };
  const group = { ...trigger, jid: 'a@g.us', folder: 'family', name: 'Family Chat', isMain: false };
  store.groups.register(group, 1);
  for (const skill of ['telegram', 'web']) {
    mkdirSync(join(projectDir, 'skills', skill), { recursive: true });
    writeFileSync(join(projectDir, 'skills', skill, 'manifest.yaml'), '');
  }
  mkdirSync(join(projectDir, '.claw/packages/notes'), { recursive: true });
  const tools = () =>
    ['read_file', 'web_fetch', 'web_search'].map((name) => ({
      ...({ name, runsIn: 'host', isMainOnly: false } as const),
    }));
  store.toolSwitches.set('family', ['mail_*']);
  const engines = [{ name: 'docker', limits: 'container' } as const];
  return {
    typed: (text: string) => completionsOf({ store, projectDir, commands, engines, tools }, text),
    [Symbol.dispose]() {
      store.close();
      rmSync(projectDir, { recursive: true });
    },
  };
}

const TYPED: readonly (readonly [typed: string, lines: readonly string[]])[] = [
  ['/re', ['/register ', '/remove-notes', '/reset ', '/restart', '/resume ', '/retry ']],
  ['/STAT', ['/status']],
  ['/add-te', ['/add-telegram']],
  ['/add-', ['/add-telegram', '/add-web']],
  ['/register ', ['/register Book Club']],
  ['/unregister f', ['/unregister Family Chat']],
  ['/trigger ', ['/trigger Family Chat ']],
  ['/sandbox d', ['/sandbox docker']],
  ['/conflicts g', ['/conflicts give up']],
  ['/help cha', ['/help chats']],
  ['/model def', ['/model default', '/model default for all']],
  ['/tasks a', ['/tasks add ']],
  ['/budget ', ['/budget Family Chat ', '/budget Family Chat default', '/budget Family Chat none']],
  ['/budget family chat n', ['/budget Family Chat none']],
  ['/reset ', ['/reset Family Chat']],
  ['/stop f', ['/stop Family Chat']],
  [
    '/tools o',
    ['/tools off read_file', '/tools off web_fetch', '/tools off web_search', '/tools on mail_*'],
  ],
  ['/tools off web_f', ['/tools off web_fetch']],
  ['/tools for', ['/tools for Family Chat']],
  ['/tools off web_search ', ['/tools off web_search for Family Chat']],
  ['/tools off web_search read_file for fam', ['/tools off web_search read_file for Family Chat']],
  ['/bogus', []],
  ['/status x', []],
  ['hello /re', []],
  ['', []],
];

test.each(TYPED)('%j can become %j', (text, lines) => {
  using one = bench();
  expect(one.typed(text)).toEqual(lines);
});

test('completions begin as typed, each once, and every command is offered', () => {
  using one = bench();
  const all = one.typed('/');
  expect(all).toEqual([...new Set(all)]);
  for (const { name, chats } of commands) {
    const isHere = chats !== 'groups';
    const head = `/${name.split('<')[0]}`;
    if (isHere)
      expect(
        all.some((line) => line.startsWith(head)),
        name,
      ).toBe(true);
  }
  for (const line of all) {
    for (const more of one.typed(line)) expect(more.startsWith(line)).toBe(true);
  }
});
