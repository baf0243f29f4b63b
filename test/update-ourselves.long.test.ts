import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithEngine } from '../src/testing/engine.ts';
import { type AnthropicServer, startAnthropicServer } from '../src/testing/model/anthropic.ts';
import { Assistant } from './story/assistant.ts';
import { endAtFirstFailure } from './story/chapters.ts';
import { type Clone, cloneAgain, cloneRepository, runThere, type Snapshot } from './story/clone.ts';
import { echoOrShell } from './story/far-ends.ts';

/** None needs a package from npm; the last two change the same core file. */
const SKILLS = 'notes pins persona roles heartbeat spawn quiet-hours private-answers'.split(' ');
const RETIRED = 'pins';
/** `quiet-hours` changes it, the owner edits it, and the next release moves it. */
const MOVED = {
  from: 'src/host/outbound/delivery.ts',
  to: 'src/host/outbound/sending/delivery.ts',
};
const OWNERS_LINE = '// The owner of this installation was here.\n';
const NEXT_MIGRATION = 'src/store/migrations/core/900.sql';

// This repository makes its first two releases, and an installation of the first one follows to the second and back.
await describeWithEngine('bubblewrap', 'an update of Patchclaw to its next release', () => {
  endAtFirstFailure();
  let model: AnthropicServer;
  let upstream: Clone;
  let clone: Clone;
  let assistant: Assistant;
  let before: Snapshot;

  beforeAll(async () => {
    model = await startAnthropicServer(echoOrShell);
    upstream = cloneRepository();
  });

  afterAll(async () => {
    await assistant?.stop();
    await clone?.[Symbol.asyncDispose]();
    await upstream?.[Symbol.asyncDispose]();
    await model?.close();
  });

  test('release 0.1.0 is made by the command for it', async () => {
    upstream.git('tag', '--delete', 'v0.1.0');
    await makeRelease(upstream, '0.1.0');
    expect(upstream.git('tag', '--list').trim()).toBe('v0.1.0');
    expect(upstream.read('CHANGELOG.md')).toMatch(/^## \[?0\.1\.0/m);
  });

  test('an installation takes eight skills, and its owner edits a file that one of them changes', async () => {
    clone = cloneAgain(upstream, {
      ANTHROPIC_API_KEY: 'sk-ant-test',
      ANTHROPIC_BASE_URL: model.url,
      CLAW_SANDBOX: 'bubblewrap',
    });
    expect(await clone.claw('apply', ...SKILLS, '--proof', 'skills')).toMatchObject({ code: 0 });
    clone.write({ [MOVED.from]: OWNERS_LINE + clone.read(MOVED.from) });
    before = clone.code();
    assistant = await Assistant.start(clone);
    expect(await assistant.ask('Hello from 0.1.0')).toBe('Heard: Hello from 0.1.0');
  });

  test('0.2.0 moves files, takes a skill over and changes the database', async () => {
    moveFile(upstream, MOVED.from, MOVED.to);
    // The core does now what the skill did.
    execFileSync('cp', ['-a', `${upstream.path(`skills/${RETIRED}/add`)}/.`, upstream.root]);
    upstream.git('rm', '--quiet', '-r', `skills/${RETIRED}`);
    upstream.write({
      'migrations.yaml':
        '- since: 0.2.0\n  description: delivery has a folder of its own\n  path_map:\n' +
        `    ${MOVED.from}: ${MOVED.to}\n` +
        `- since: 0.2.0\n  description: pins belong to the core\n  retire: ${RETIRED}\n`,
      [NEXT_MIGRATION]: 'CREATE TABLE greetings (text TEXT NOT NULL) STRICT;\n',
      'changes/next.md': '---\nkind: added\n---\nPins belong to the core.\n',
    });
    upstream.git('add', '--all');
    upstream.git('commit', '--quiet', '--message', 'what 0.2.0 is');
    await makeRelease(upstream, '0.2.0');
  });

  test('/update carries the skills and the edit over, and the assistant comes back as 0.2.0', async () => {
    const plan = await assistant.ask('/update');
    console.log(plan);
    expect(plan).toContain('0.1.0 → 0.2.0');
    const told = await assistant.askFor('yes', 'The core is 0.2.0 now');
    console.log(told);
    expect(await assistant.ask('Hello from 0.2.0')).toBe('Heard: Hello from 0.2.0');
    expect(clone.has(MOVED.from)).toBe(false);
    const moved = clone.read(MOVED.to);
    expect(moved).toContain(OWNERS_LINE.trim());
    expect(moved).toContain('quiet');
    const status = await clone.claw('status');
    expect(JSON.stringify(status.json)).not.toContain(RETIRED);
  });

  test('/undo brings every byte of 0.1.0 back, and the assistant answers on the newer database', async () => {
    console.log(await assistant.ask('/undo'));
    const told = await assistant.ask('yes');
    console.log(told);
    expect(clone.code()).toEqual(before);
    expect(await assistant.ask('Hello again')).toBe('Heard: Hello again');
    expect(await assistant.end()).toBe(0);
  });
});

async function makeRelease(upstream: Clone, version: string): Promise<void> {
  const run = await runThere(upstream.root, [
    upstream.nodePath,
    'scripts/release.ts',
    version,
    '--tested',
  ]);
  expect(run, run.stdout + run.stderr).toMatchObject({ code: 0 });
}

/** Moves a file and lets every import in the code and in the skills follow, as maintainers do. */
function moveFile(clone: Clone, from: string, to: string): void {
  const sources = clone.git('ls-files', '--', '*.ts', '*.js').trim().split('\n');
  mkdirSync(dirname(clone.path(to)), { recursive: true });
  clone.git('mv', from, to);
  for (const path of sources) {
    const here = path === from ? to : path;
    const text = clone.read(here);
    // A file of a skill's `add/` or `modify/` is at home in the tree that it goes into.
    const home = path.replace(/^skills\/[^/]+\/(add|modify)\//, '');
    const followed = text.replace(/(['"])(\.\.?\/[^'"\n]+)\1/g, (whole, quote, specifier) => {
      const target = join(dirname(home), specifier);
      const isMoved = target === from;
      if (!isMoved && path !== from) return whole;
      const place = relative(dirname(path === from ? to : home), isMoved ? to : target);
      return `${quote}${place.startsWith('.') ? place : `./${place}`}${quote}`;
    });
    if (followed !== text) clone.write({ [here]: followed });
  }
}
