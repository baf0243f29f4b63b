import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { Fleet } from '../../../src/lib/fleet/fleet.ts';
import { FleetBook } from '../../../src/lib/fleet/fleet-book.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { writeSmallRelease } from './small-release.ts';

const TREE = '/instance/patchclaw';
const PROCESS = join(import.meta.dirname, 'fleet-process.ts');
const BEGIN = 'export const begin = async ({ isTrial, open }) => {';

await describeWithEngine('docker', 'a fleet whose upgrades are killed or fail', () => {
  const dir = mkdtempSync(join(tmpdir(), 'claw-fleet-kills-'));
  const book = new FleetBook(join(dir, 'data'));

  beforeAll(async () => {
    release('v1');
    for (const name of ['mira', 'noah']) {
      expect((await fleet('add', name)).error).toBeNull();
      await docker(
        ...['exec', containerOf(name), 'sh', '-ec'],
        `cd ${TREE}; echo edit > mine; echo wish > groups/wish; ${MESSAGE}`,
      );
    }
  });

  afterAll(async () => {
    for (const name of ['mira', 'noah']) await fleet('remove', name, '--deleteData');
    const { id } = book.read();
    const mine = ['--quiet', '--filter', `label=patchclaw.fleet=${id}`];
    const left = await Promise.all([
      docker('ps', '--all', ...mine),
      docker('volume', 'ls', ...mine),
      docker('images', ...mine),
      docker('network', 'ls', '--quiet', '--filter', `name=claw-${id}`),
    ]);
    rmSync(dir, { recursive: true, force: true });
    expect(left).toEqual(['', '', '', '']);
  });

  /** Writes the code that an upgrade brings; `begin` runs before its assistant is up. */
  function release(
    version: string,
    begin = '',
    files: Readonly<Record<string, string>> = {},
  ): void {
    const code = begin === '' ? {} : { 'src/begin.js': `${BEGIN}\n${begin}\n};\n` };
    rmSync(join(dir, 'slow-merge'), { force: true });
    writeSmallRelease(dir, { version: `${version}\n`, ...code, ...files });
  }

  const start = (killAt: string, ...words: readonly string[]): ChildProcess =>
    spawn(process.execPath, [PROCESS, dir, killAt, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  async function fleet(...words: readonly string[]): Promise<z.output<typeof End>> {
    const child = start('', ...words);
    const [stdout, stderr] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
    if (stdout === '') throw new Error(`fleet ${words.join(' ')}: ${stderr}`);
    return End.parse(JSON.parse(stdout));
  }

  /** Runs an upgrade that is killed when it says a line. */
  async function killAt(line: string, ...words: readonly string[]): Promise<void> {
    const child = start(line, 'upgrade', ...words);
    const [[code, signal], stdout] = await Promise.all([once(child, 'exit'), textOf(child.stdout)]);
    expect([code, signal, stdout]).toEqual([null, 'SIGKILL', '']);
  }

  /** Kills an upgrade once something is so. */
  async function killOnce(isSo: () => Promise<void>): Promise<void> {
    const child = start('', 'upgrade', '--watch', '0');
    const ended = once(child, 'exit');
    await vi.waitFor(isSo, { timeout: 300_000, interval: 100 });
    child.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
  }

  const containerOf = (name: string): string => `claw-${book.read().id}-${name}`;
  const steps = async (): Promise<string> =>
    await docker('ps', '--quiet', '--filter', `label=patchclaw.fleet.step=${book.read().id}`);
  const networkOf = async (name: string): Promise<string> =>
    await docker('inspect', '--format', '{{.HostConfig.NetworkMode}}', containerOf(name));

  const versionNow = async (): Promise<string> =>
    await docker('exec', containerOf('noah'), 'cat', `${TREE}/version`);

  /** Expects that both are up, on these versions, with all that their owners have. */
  async function expectBoth(mira: string, noah: string): Promise<void> {
    for (const [name, version] of Object.entries({ mira, noah })) {
      const line = `cd ${TREE}; cat version mine groups/wish; ${COUNT}`;
      const [, ...seen] = [name, await docker('exec', containerOf(name), 'sh', '-ec', line)];
      expect([name, ...seen]).toEqual([name, `${version}\nedit\nwish\n1`]);
      await docker('exec', containerOf(name), 'node', '/opt/patchclaw/instance.mjs', 'health');
      expect(await networkOf(name)).toBe(`claw-${book.read().id}`);
      const volume = '{{range .Mounts}}{{.Name}}{{end}}';
      expect(await docker('inspect', '--format', volume, containerOf(name))).toBe(
        book.instance(name).version.volume,
      );
    }
    expect(await steps()).toBe('');
  }

  test('the next command finds each instance well, on one version or the other, and says how to go on', async () => {
    release('v2');
    await killAt('mira: copying its volume');
    expect(await fleet('list')).toMatchObject({
      data: { interrupted: interruption('none', 'mira, noah') },
    });
    await expectBoth('v1', 'v1');

    await killAt('mira: trying it');
    expect(await fleet('list')).toMatchObject({
      data: { interrupted: interruption('none', 'mira, noah') },
    });
    await expectBoth('v1', 'v1');

    // It is switched by then, and not started: another command than `list` starts it as well.
    await killAt('mira: starting the new version');
    expect((await fleet('wake', 'noah')).error).toBeNull();
    await expectBoth('v2', 'v1');
    expect(await fleet('list')).toMatchObject({
      data: { interrupted: interruption('mira', 'noah') },
    });

    await killAt('noah: copying its volume');
    expect(await fleet('list')).toMatchObject({
      data: { interrupted: interruption('mira', 'noah') },
    });
    await expectBoth('v2', 'v1');

    await killAt('Watching noah', '--watch', '1');
    expect(await fleet('list')).toMatchObject({ data: { interrupted: null } });
    await expectBoth('v2', 'v2');
    expect(book.read()).toMatchObject({ discarded: [], upgrade: null });
  });

  test('a merge or a trial that the engine goes on with after a kill is ended', async () => {
    const now = await versionNow();
    release('v3', '', { 'slow-merge': '' });
    await killOnce(async () => {
      const top = await docker('top', (await steps()) || 'none');
      expect(top).toContain('claw.js update');
    });
    expect(await steps()).not.toBe('');
    expect((await fleet('wake', 'mira')).error).toBeNull();
    await expectBoth(now, now);

    release('v4', 'if (isTrial) await new Promise((resolve) => setTimeout(resolve, 600_000));');
    await killOnce(async () => {
      expect(await networkOf('mira')).toBe('none');
    });
    expect((await fleet('list')).data).toMatchObject({
      interrupted: interruption('none', 'mira, noah'),
    });
    await expectBoth(now, now);
    expect(book.read().discarded).toEqual([]);
  });

  test('a new version that fails after the switch is taken back, also by the command after a kill', async () => {
    const now = await versionNow();
    release('v5', 'if (!isTrial) process.exit(1);');
    await killAt('mira: starting the new version');
    const { interrupted } = Interrupted.parse((await fleet('list')).data);
    expect(interrupted).toMatch(
      /^An upgrade was interrupted\. On the new version: none\. .*mira was rolled back: it ended: /,
    );
    await vi.waitFor(() => expectBoth(now, now), { timeout: 300_000, interval: 500 });

    const { error } = await fleet('upgrade', '--watch', '0');
    expect(error).toMatch(/^mira was rolled back: it ended: .* Left as they were: noah\.$/);
    await vi.waitFor(() => expectBoth(now, now), { timeout: 300_000, interval: 500 });
  });

  test('while the first are watched others can work, and one that ends then is taken back', async () => {
    const now = await versionNow();
    release(
      'v6',
      "const { existsSync } = await import('node:fs'); if (isTrial) return; if (existsSync('data/fall')) process.exit(1); setInterval(() => { if (existsSync('data/fall')) process.exit(1); }, 50);",
    );
    let woken: unknown = null;
    const watcher = new Fleet({
      ...{ book, memory: '256m', projectDir: dir, now: Date.now, progress: () => {} },
      signal: new AbortController().signal,
      async pause() {
        woken = await fleet('wake', 'noah');
        await docker('exec', containerOf('mira'), 'touch', `${TREE}/data/fall`);
        const format = ['inspect', '--format', '{{.RestartCount}}', containerOf('mira')];
        await vi.waitFor(async () => expect(await docker(...format)).not.toBe('0'), {
          timeout: 300_000,
          interval: 100,
        });
      },
    });
    const { ends, left } = await watcher.upgrade({
      ...{ only: [], canary: 1, watchMs: 1, patienceMs: 300_000 },
    });
    expect(woken).toMatchObject({ error: null });
    expect({ ends, left }).toEqual({
      ends: { mira: { kind: 'rolled-back', reason: 'it ended after a while' } },
      left: ['noah'],
    });
    await vi.waitFor(() => expectBoth(now, now), { timeout: 300_000, interval: 500 });
  });

  test('it is not taken back where a message came since, and the next release mends it', async () => {
    const take = "open().exec('INSERT INTO messages (stored_at) VALUES (2)')";
    release('v7', `if (isTrial) return; ${take}; process.exit(1);`);
    const { error } = await fleet('upgrade', 'mira', '--watch', '0');
    expect(error).toMatch(/^mira runs the new version and is not well: .*messages? came since/);
    release('v8', 'open();');
    expect((await fleet('upgrade', 'mira', '--watch', '0')).error).toBeNull();
    const line = `cd ${TREE}; cat version mine; ${COUNT}`;
    expect(await docker('exec', containerOf('mira'), 'sh', '-ec', line)).toMatch(
      /^v8\nedit\n([2-9]|\d\d+)$/,
    );
  });
});

const End = z.object({ data: z.unknown(), error: z.string().nullable() });
const Interrupted = z.object({ interrupted: z.string() });

const DATABASE = "const d = require('better-sqlite3')('data/claw.db')";
const COUNT = `node -e "${DATABASE}; console.log(d.prepare('SELECT count(*) FROM messages').pluck().get())"`;
const MESSAGE = `node -e "${DATABASE}; d.exec('INSERT INTO messages (stored_at) VALUES (1)')"`;

const interruption = (upgraded: string, left: string): string =>
  `An upgrade was interrupted. On the new version: ${upgraded}. On the one from before: ${left}. Go on with: npx claw fleet upgrade`;

async function docker(...words: readonly string[]): Promise<string> {
  return (await execa('docker', words, { stdin: 'ignore' })).stdout.trim();
}

async function textOf(stream: ChildProcess['stdout']): Promise<string> {
  return stream === null ? '' : await text(stream);
}
