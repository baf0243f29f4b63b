import { lstat, mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWithEngine } from '../../testing/engine.ts';
import {
  type AnthropicScript,
  lastToolResults,
  lastUserText,
} from '../../testing/model/anthropic.ts';
import { type SandboxProject, sandboxProject } from '../../testing/sandbox-project.ts';

/** Calls the tool that it is told to, as `remember {"text":"…"}`, and answers with what that gave. */
const script: AnthropicScript = (request) => {
  const results = lastToolResults(request);
  if (results.length > 0) return [{ type: 'text', text: results.join('\n') }];
  const [, name, input] = /^([a-z_]+) (\{.*\})$/s.exec(lastUserText(request)) ?? [];
  if (name === undefined || input === undefined) return [{ type: 'text', text: 'ok' }];
  return [{ type: 'tool_use', name, input: JSON.parse(input) }];
};

await describeWithEngine('docker', 'what an agent remembers', () => {
  let project: SandboxProject;
  beforeAll(async () => {
    project = await sandboxProject({ engine: 'docker', script });
  });
  afterAll(() => project[Symbol.asyncDispose]());

  const main = { folder: 'main', isMain: true };
  const call = (name: string, input: object, over = {}) =>
    project.answer(`${name} ${JSON.stringify(input)}`, over);
  /** Returns the system prompt of a turn. */
  async function promptOf(over = {}): Promise<string> {
    await project.answer('hello', over);
    const { system = '' } = project.server.requests.at(-1)?.body ?? {};
    return typeof system === 'string' ? system : system.map(({ text }) => text).join('\n');
  }
  const group = (path: string) => join(project.dir, 'groups/family', path);

  test('it writes to the CLAUDE.md of its group, and reads in every turn from then on', async () => {
    expect(await call('remember', { text: 'Always answer\nin Portuguese' })).toBe(
      'Noted in /workspace/group/CLAUDE.md.',
    );
    const line = '- Always answer in Portuguese';
    expect(await readFile(group('CLAUDE.md'), 'utf8')).toBe(
      `The family likes short answers.\n${line}\n`,
    );
    expect(await promptOf()).toContain(line);
    await project.sandbox.stop('family');
    expect(await promptOf()).toContain(line);
    expect(await promptOf({ folder: 'other' })).not.toContain('Portuguese');
    expect(await promptOf(main)).not.toContain('Portuguese');
    // Its other tools reach the same file, and an edit of the owner's counts at once.
    const edit = { path: 'CLAUDE.md', old_text: 'Portuguese', new_text: 'Galician' };
    await call('edit_file', edit);
    expect(await promptOf()).toContain('- Always answer in Galician');
    await writeFile(group('CLAUDE.md'), 'Nothing but this.');
    expect(await promptOf()).toContain('Nothing but this.');
    expect(await promptOf()).not.toContain('Galician');
    await call('remember', { text: 'One more' });
    expect(await readFile(group('CLAUDE.md'), 'utf8')).toBe('Nothing but this.\n- One more\n');
  });

  test('the memory of all groups is read by all and written by no container', async () => {
    for (const over of [{}, { folder: 'other' }, main]) {
      const path = '/workspace/global/CLAUDE.md';
      expect(await call('write_file', { path, content: 'mine' }, over)).toContain('EROFS');
      expect(await call('shell', { command: `echo mine >> ${path}` }, over)).toContain('Read-only');
    }
    await writeFile(
      join(project.dir, 'groups/global/CLAUDE.md'),
      'Everybody speaks English.\n- The owner is called Ada\n',
    );
    for (const over of [{}, { folder: 'other' }, main]) {
      const prompt = await promptOf(over);
      expect(prompt).toContain('Everybody speaks English.\n- The owner is called Ada');
      // The tool of the host is not among those of this test.
      expect(prompt).toContain('only the main chat may change it');
    }
  });

  test('it has notes of its own beside its sessions, short ones before its eyes', async () => {
    await call('remember', { text: 'Ask Bob about the boiler', where: 'own' });
    await call('write_file', { path: '/home/node/.claude/memory/bob.md', content: 'Bob: +49' });
    const path = '/home/node/.claude/memory/long.md';
    await call('write_file', { path, content: 'x'.repeat(20_000) });
    const kept = join(project.dataDir, 'sessions/family/.claude/memory/MEMORY.md');
    expect(await readFile(kept, 'utf8')).toBe('- Ask Bob about the boiler\n');
    await project.sandbox.stop('family');
    const prompt = await promptOf();
    expect(prompt).toContain('## MEMORY.md\n\n- Ask Bob about the boiler');
    expect(prompt).toContain('## bob.md\n\nBob: +49');
    expect(prompt).toContain('Read when needed:\n- long.md (20000 bytes)');
    expect(prompt).not.toContain('xxxx');
    expect(await promptOf({ folder: 'other' })).not.toContain('boiler');
  });

  test('a memory over its limit is said to be, at each line more, and what is newest is what it sees', async () => {
    const over = { folder: 'other' };
    const path = join(project.dir, 'groups/other/CLAUDE.md');
    const old = (number: number) => `- Old fact number ${number}, which nobody needs\n`;
    const facts = Array.from({ length: 1_000 }, (_, number) => old(number));
    await writeFile(path, facts.join(''));
    // A file of the owner's is given to the agent when its container starts.
    await project.sandbox.stop('other');
    expect(await call('remember', { text: 'Tea at five' }, over)).toMatch(
      /^Noted in \/workspace\/group\/CLAUDE\.md\. The file has \d{5} bytes, and only 32768 of them are shown to you: its beginning and its end\. Tell the user that this memory is over its limit, and offer to tidy it/,
    );
    // All of it is kept, whatever is shown of it.
    expect(await readFile(path, 'utf8')).toBe(`${facts.join('')}- Tea at five\n`);
    const prompt = await promptOf(over);
    expect(prompt).toContain(`${old(999)}- Tea at five`);
    expect(prompt).toContain(old(0));
    expect(prompt).not.toContain(old(500));
    // Once it is tidy nothing is said.
    await writeFile(path, old(1));
    expect(await call('remember', { text: 'Tea at six' }, over)).toBe(
      'Noted in /workspace/group/CLAUDE.md.',
    );
    const own = '/home/node/.claude/memory/MEMORY.md';
    await call('write_file', { path: own, content: 'x'.repeat(16_384) }, over);
    expect(await call('remember', { text: 'more', where: 'own' }, over)).toContain(
      'and only 16384 of them are shown to you',
    );
  });

  test('the Markdown files of its folder are named to it, the newest first', async () => {
    await mkdir(group('issues/.git'), { recursive: true });
    await mkdir(group('node_modules/x'), { recursive: true });
    await mkdir(group('skills/tea/references'), { recursive: true });
    for (const name of ['SKILL', 'references/leaves'])
      await writeFile(group(`skills/tea/${name}.md`), '');
    const files = ['old.md', 'issues/new.md', 'issues/.git/a.md', 'node_modules/x/a.md', 'a\nb.md'];
    for (const path of files) await writeFile(group(path), path);
    await writeFile(group('picture.png'), 'png');
    await utimes(group('old.md'), 1, 1);
    await symlink('/', group('root'));
    await symlink('/etc/passwd', group('passwd.md'));
    expect(await promptOf()).toContain(
      '# Markdown files in /workspace/group, newest first\n\n- issues/new.md (13 bytes)\n- old.md (6 bytes)',
    );
    for (let count = 0; count < 60; count += 1) await writeFile(group(`n${count}.md`), '');
    const prompt = await promptOf();
    expect(prompt).toContain('- and 12 older ones');
    expect(prompt).not.toMatch(/picture|passwd|root|skills|node_modules|\.git\b|old\.md/);
  });

  test('of a memory without end the beginning and the newest are shown, and where to read on', async () => {
    const lines = Array.from({ length: 9_000 }, (_, at) => `line ${at + 1}\n`);
    await writeFile(group('CLAUDE.md'), lines.join(''));
    const prompt = await promptOf();
    const size = (await lstat(group('CLAUDE.md'))).size;
    const [, at = ''] =
      new RegExp(
        `\\[cut: ${size} bytes in all, the middle is left out here; read on with read_file from line (\\d+)\\]`,
      ).exec(prompt) ?? [];
    expect(prompt).toContain(`line ${Number(at) - 1}\n`);
    expect(prompt).not.toContain(`line ${Number(at) + 1}\n`);
    // The newest is at the end.
    expect(prompt).toContain('line 9000');
    expect(prompt.length).toBeLessThan(45_000);
    // A pipe in its place would hold up whoever opens it.
    await call('shell', { command: 'rm CLAUDE.md && mkfifo CLAUDE.md' });
    expect(await promptOf()).not.toContain('Memory of this group');
  });
});
