import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithEngine } from '../src/testing/engine.ts';
import { startAnthropicServer } from '../src/testing/model/anthropic.ts';
import { Assistant } from './story/assistant.ts';
import { endAtFirstFailure } from './story/chapters.ts';
import { type Clone, cloneAgain, cloneRepository, type Snapshot } from './story/clone.ts';
import { echoOrShell, startTelegram, type TelegramServer } from './story/far-ends.ts';

const SKILLS = 'guard notes persona pins telegram telegram-reactions voice web';

/** What the made-up next release moves: a file that skills import, and one that a skill changes. */
const MOVES = {
  'src/lib/graphemes.ts': 'src/lib/text/graphemes.ts',
  'src/channels/whatsapp/outbound/delivery.ts': 'src/channels/whatsapp/sending/delivery.ts',
};
const MIGRATIONS = `- since: 0.2.0
  description: two files have moved
  path_map:
${Object.entries(MOVES)
  .map(([from, to]) => `    ${from}: ${to}\n`)
  .join('')}- since: 0.2.0
  description: pins are no longer kept
  retire: pins
`;
const TABLE = 'CREATE TABLE fictitious (id INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT;\n';

/** The owner changes the moved file, and what a default is. */
const MINE = '// Mine: so that it is seen where it goes.\n';
const EDITED = 'src/config.ts';

/** Makes the next release of a clone: moved files with what imports them, a retired skill, a new table. */
function releaseNext(project: Clone): void {
  for (const [from, to] of Object.entries(MOVES)) {
    project.write({ [to]: project.read(from) });
    project.git('rm', '--quiet', from);
  }
  for (const path of globSync('{src,container,test,scripts}/**/*.ts', { cwd: project.root }))
    followMoves(project, path);
  const numbers = globSync('src/store/migrations/core/*.sql', { cwd: project.root });
  project.write({
    'migrations.yaml': MIGRATIONS,
    [`src/store/migrations/core/${numbers.length + 1}.sql`]: TABLE,
    'package.json': project.read('package.json').replace('"0.1.0"', '"0.2.0"'),
    // Its own version stands twice, above all packages.
    'package-lock.json': project
      .read('package-lock.json')
      .replace('"version": "0.1.0"', '"version": "0.2.0"')
      .replace('"version": "0.1.0"', '"version": "0.2.0"'),
  });
  project.git('rm', '-r', '--quiet', 'skills/pins');
  project.git('add', '--all');
  project.git(
    '-c',
    'user.name=Test',
    '-c',
    'user.email=test@example.org',
    'commit',
    '--quiet',
    '-m',
    'release: 0.2.0',
  );
  project.git('tag', 'v0.2.0');
}

/** Rewrites what one file imports of files that moved, and of its own neighbours where it moved itself. */
function followMoves(project: Clone, path: string): void {
  const newPaths: Readonly<Record<string, string>> = MOVES;
  const before = Object.entries(MOVES).find(([, to]) => to === path)?.[0] ?? path;
  const text = project.read(path);
  const followed = text.replace(/'(\.{1,2}\/[^']+\.ts)'/g, (whole, written: string) => {
    const target = join(dirname(before), written);
    const place = relative(dirname(path), newPaths[target] ?? target);
    if (before === path && newPaths[target] === undefined) return whole;
    return `'${place.startsWith('.') ? place : `./${place}`}'`;
  });
  if (followed !== text) project.write({ [path]: followed });
}

await describeWithEngine(
  'bubblewrap',
  'this project, updated from 0.1.0 to a made-up 0.2.0 and back',
  () => {
    endAtFirstFailure();
    let origin: Clone;
    let clone: Clone;
    let assistant: Assistant;
    let telegram: TelegramServer;
    let model: Awaited<ReturnType<typeof startAnthropicServer>>;
    let before: Snapshot;

    beforeAll(async () => {
      origin = cloneRepository();
      model = await startAnthropicServer(echoOrShell);
      const { server, settings } = await startTelegram();
      telegram = server;
      clone = cloneAgain(origin, {
        ANTHROPIC_API_KEY: 'sk-ant-test',
        ANTHROPIC_BASE_URL: model.url,
        CLAW_SANDBOX: 'bubblewrap',
        ...settings,
      });
      releaseNext(origin);
      assistant = await Assistant.start(clone);
    });
    afterAll(async () => {
      await assistant?.stop();
      await telegram?.[Symbol.asyncDispose]();
      await Promise.all([
        clone?.[Symbol.asyncDispose](),
        origin?.[Symbol.asyncDispose](),
        model?.close(),
      ]);
    });

    /** Says yes to what was asked, and waits until the assistant is back on the new tree. */
    async function sayYes(words: string): Promise<string> {
      const from = assistant.stdout.length;
      assistant.say('yes');
      await assistant.until(() => assistant.stdout.slice(from).includes(words));
      return await assistant.untilPrompt(from);
    }

    test('the next release passes its own type check', () => {
      const tsc = spawnSync('node_modules/.bin/tsc', ['--noEmit'], {
        cwd: origin.root,
        encoding: 'utf8',
      });
      expect(tsc.stdout).toBe('');
    });

    test('eight skills are added from the chat, and the owner edits what the release will move', async () => {
      expect(await assistant.ask(`/add-${SKILLS}`)).toContain('Add them? Say yes or no.');
      await sayYes('Channel telegram: connected.');
      const moved = 'src/lib/graphemes.ts';
      clone.write({
        [moved]: clone.read(moved) + MINE,
        [EDITED]: clone.read(EDITED).replace('default(600_000)', 'default(300_000)'),
      });
      before = clone.code();
      expect(await assistant.askFor('hello', 'Heard:')).toContain('hello');
    });

    test('the update is planned, asked about, proved and published; edits and skills go where the files went', async () => {
      const plan = await assistant.askFor('/update', 'Say yes or no.');
      expect(plan).toContain('Core 0.1.0 → 0.2.0');
      expect(plan).toContain('pins');
      await sayYes('The core is 0.2.0 now');
      for (const [from, to] of Object.entries(MOVES)) {
        expect(clone.has(from), from).toBe(false);
        expect(clone.has(to), to).toBe(true);
      }
      expect(clone.read('src/lib/text/graphemes.ts')).toContain(MINE);
      expect(clone.read(EDITED)).toContain('default(300_000)');
      const [inside = ''] = (await assistant.ask('/skills')).split('To add:');
      for (const skill of SKILLS.split(' ').filter((name) => name !== 'pins'))
        expect(inside).toMatch(new RegExp(`- ${skill} \\d`));
      expect(inside).not.toContain('- pins');
      expect(await assistant.askFor('still there?', 'Heard:')).toContain('still there?');
      const { json } = await clone.claw('verify');
      expect(json).toMatchObject({ outcome: 'done' });
    });

    test('and back: every byte of the code is as before, and the assistant answers', async () => {
      expect(await assistant.askFor('/undo', 'Say yes or no.')).toContain('0.2.0');
      await sayYes('Taken back');
      expect(clone.code()).toEqual(before);
      expect(await assistant.askFor('and now?', 'Heard:')).toContain('and now?');
      expect(await assistant.ask('/skills')).toMatch(/- pins \d[\s\S]*To add:/);
      expect(await assistant.end()).toBe(0);
    });
  },
);
