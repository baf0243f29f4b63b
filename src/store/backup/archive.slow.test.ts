import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { Header } from 'tar';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../store.ts';
import { openArchive } from './archive.ts';
import { type BackupOptions, makeBackup, READ_LIMITS, verifyBackup } from './make-backup.ts';
import type { BackupLock } from './packed-stream.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'backup-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const NOW = Date.UTC(2026, 10, 28, 12);
const KEPT = 'MODEL_KEY=sk-1234567890\nASSISTANT_NAME="Ada of the house"\n';

/** Runs a program that is not Patchclaw's. */
function run(program: string, args: readonly string[], cwd = root): Buffer {
  return execFileSync(program, args, { cwd, maxBuffer: 1e9, stdio: ['ignore', 'pipe', 'ignore'] });
}

/** Lays out an installation with something of each kind in it. */
function installation(): BackupOptions {
  const [projectDir, dataDir] = [join(root, 'project'), join(root, 'project/data')];
  const put = (path: string, text: string | Buffer) => {
    mkdirSync(join(projectDir, path, '..'), { recursive: true });
    writeFileSync(join(projectDir, path), text);
  };
  put('.env', KEPT);
  put('package.json', '{"version":"1.2.3"}');
  put('src/own.ts', 'export const mine = 1;\n');
  put('.claw/state.yaml', 'core: 1\n');
  put('.claw/cache/x', 'cached');
  put('groups/main/CLAUDE.md', 'Likes tea.');
  put(`groups/family/${'ü'.repeat(120)}.txt`, 'a long name');
  put('groups/family/two\nlines\\.txt', '');
  put('data/sessions/main/talk.jsonl', '{}\n');
  put('data/whatsapp/session.json', '{"key":"secret"}');
  put('data/media/main/photo.jpg', Buffer.alloc(9_000_000, 'photo'));
  put('data/logs/a.log', 'log');
  symlinkSync('/etc/passwd', join(projectDir, 'groups/main/link'));
  const store = openStore({ path: join(dataDir, 'claw.db'), now: NOW });
  store.meta.set('greeted', 'yes');
  store.close();
  return {
    projectDir,
    dataDir,
    reason: 'manual',
    lock: { kind: 'none' },
    isSecret: (name) => name.includes('KEY'),
    now: NOW,
  };
}

describe('a backup', () => {
  test('holds what belongs to the installation, without caches, logs and links', async () => {
    const { file, files, facts } = await makeBackup({
      ...installation(),
      lock: { kind: 'passphrase', passphrase: 'correct horse' },
    });
    expect(file).toMatch(/data\/backups\/patchclaw-20261128T120000Z-manual\.tar\.zst\.age$/);
    expect(files.map(({ path }) => path)).toEqual([
      'project/.env',
      'data/claw.db',
      'data/media/main/photo.jpg',
      'data/sessions/main/talk.jsonl',
      'data/whatsapp/session.json',
      'project/groups/family/two\nlines\\.txt',
      `project/groups/family/${'ü'.repeat(120)}.txt`,
      'project/groups/main/CLAUDE.md',
      'project/.claw/state.yaml',
      'project/package.json',
      'project/src/own.ts',
    ]);
    expect(facts).toMatchObject({ version: '1.2.3', hasSecrets: true, rows: { meta: 1 } });
    expect(facts.leftOut).toEqual(['Symbolic links left out (1): project/groups/main/link.']);
    const read = await verifyBackup(file, { passphrase: 'correct horse' });
    expect(read).toEqual({ facts, files });
    await expect(verifyBackup(file, { passphrase: 'wrong horse' })).rejects.toMatchObject({
      code: 'WRONG_KEY',
    });
    await expect(verifyBackup(file)).rejects.toMatchObject({ code: 'KEY_NEEDED' });
    expect(existsSync(join(root, 'project/data/tmp'))).toBe(true);
  });

  test('has no keys where it is not encrypted, and says so', async () => {
    const { file, files, facts } = await makeBackup(installation());
    expect(files.map(({ path }) => path)).not.toContain('data/whatsapp/session.json');
    expect(facts.leftOut[0]).toContain('Keys and logins are not in it');
    const text = zstdDecompressSync(readFileSync(file).subarray(0, -40)).toString('latin1');
    expect(text).not.toContain('sk-1234567890');
    expect(text).toContain("ASSISTANT_NAME='Ada of the house'");
  });

  test('is opened by tar, zstd and sha256sum alone', async () => {
    const { file } = await makeBackup(installation());
    const out = join(root, 'out');
    mkdirSync(out);
    const tar = join(root, 'plain.tar');
    writeFileSync(tar, zstdDecompressSync(readFileSync(file).subarray(0, -40)));
    run('tar', ['xf', tar, '-C', out]);
    run('sha256sum', ['--quiet', '-c', 'SHA256SUMS'], out);
    expect(readFileSync(join(out, 'project/groups/main/CLAUDE.md'), 'utf8')).toBe('Likes tea.');
  });

  test('is opened by the age of Debian', async () => {
    const key = join(root, 'key.txt');
    run('age-keygen', ['-o', key]);
    const identity = /AGE-SECRET-KEY-\S+/.exec(readFileSync(key, 'utf8'))?.[0] ?? '';
    const recipient = run('age-keygen', ['-y', key]).toString().trim();
    const lock: BackupLock = { kind: 'recipients', recipients: [recipient] };
    const { file, files } = await makeBackup({ ...installation(), lock });
    const packed = run('age', ['-d', '-i', key, file]);
    expect(zstdDecompressSync(packed.subarray(0, -40)).includes('Likes tea.')).toBe(true);
    expect((await verifyBackup(file, { identities: [identity] })).files).toEqual(files);
  });

  test('names a recipient that is none', async () => {
    const lock: BackupLock = { kind: 'recipients', recipients: ['ssh-rsa AAAA'] };
    await expect(makeBackup({ ...installation(), lock })).rejects.toMatchObject({
      code: 'BAD_RECIPIENT',
    });
  });
});

describe('a file that is not, to the bit, what was written', () => {
  test.each<[string, BackupLock, number]>([
    ['unencrypted', { kind: 'none' }, 1_000],
    ['encrypted', { kind: 'passphrase', passphrase: 'correct horse' }, 25],
  ])('is refused, %s', async (_, lock, flips) => {
    const { file } = await makeBackup({ ...installation(), lock });
    const bytes = readFileSync(file);
    const broken = join(root, 'broken');
    // Spread over the whole file, with its first and last bytes.
    for (let n = 0; n < flips; n += 1) {
      const copy = Buffer.from(bytes);
      const at = Math.round((n / (flips - 1)) * (bytes.length - 1));
      copy[at] = (copy[at] ?? 0) ^ (1 << (n % 8));
      writeFileSync(broken, copy);
      const error = await verifyBackup(broken, { passphrase: 'correct horse' }).catch((one) => one);
      expect(`${at} ${error?.name}`).toBe(`${at} BackupError`);
    }
  });

  test('is refused where it is cut off or goes on', async () => {
    const { file } = await makeBackup(installation());
    const bytes = readFileSync(file);
    for (const changed of [
      bytes.subarray(0, -1),
      bytes.subarray(0, 100),
      Buffer.concat([bytes, bytes]),
      Buffer.alloc(0),
    ]) {
      writeFileSync(file, changed);
      await expect(verifyBackup(file)).rejects.toMatchObject({ name: 'BackupError' });
    }
  });
});

/** Packs entries as a backup: with a right digest and right sums, so that only the entry itself is wrong. */
function pack(
  entries: readonly {
    readonly head: ConstructorParameters<typeof Header>[0];
    readonly body: Buffer;
  }[],
): string {
  const facts = Buffer.from(
    JSON.stringify({
      format: 1,
      id: 'x',
      instance: 'y',
      createdAt: 1,
      version: '1',
      reason: 'manual',
      hasSecrets: false,
      hasMedia: true,
      rows: {},
      leftOut: [],
    }),
  );
  const plain = (path: string, body: Buffer) => ({
    head: { path, size: body.length, type: 'File', mode: 0o600 } as const,
    body,
  });
  const all = [plain('backup.json', facts), ...entries];
  const sums = all
    .map(
      ({ head, body }) =>
        `${createHash('sha256').update(body).digest('hex')}  ${(head as { path: string }).path}\n`,
    )
    .join('');
  const blocks = [...all, plain('SHA256SUMS', Buffer.from(sums))].flatMap(({ head, body }) => {
    const header = new Header(head);
    header.encode();
    return [header.block ?? Buffer.alloc(0), body, Buffer.alloc((512 - (body.length % 512)) % 512)];
  });
  const packed = zstdCompressSync(Buffer.concat([...blocks, Buffer.alloc(1_024)]));
  const trailer = Buffer.from([0x5e, 0x2a, 0x4d, 0x18, 32, 0, 0, 0]);
  const file = join(root, 'hostile.tar.zst');
  writeFileSync(
    file,
    Buffer.concat([packed, trailer, createHash('sha256').update(packed).digest()]),
  );
  return file;
}

describe('a hostile archive', () => {
  const text = Buffer.from('text');
  const entry = (head: object, body = text) => ({
    head: { path: 'project/a', size: body.length, type: 'File' as const, mode: 0o600, ...head },
    body,
  });

  test('is refused only for what is wrong in it', async () => {
    await expect(verifyBackup(pack([entry({})]))).resolves.toMatchObject({
      files: [{ path: 'project/a' }],
    });
  });

  test.each([
    [
      'a symbolic link',
      entry({ type: 'SymbolicLink', linkpath: '/etc', size: 0 }, Buffer.alloc(0)),
    ],
    ['a hard link', entry({ type: 'Link', linkpath: 'project/b', size: 0 }, Buffer.alloc(0))],
    ['a folder', entry({ type: 'Directory', size: 0 }, Buffer.alloc(0))],
    ['a device', entry({ type: 'CharacterDevice', size: 0 }, Buffer.alloc(0))],
    ['a pipe', entry({ type: 'FIFO', size: 0 }, Buffer.alloc(0))],
    ['a sparse or other old kind', entry({ type: 'ContiguousFile' })],
    ['a step up', entry({ path: 'project/../../etc/passwd' })],
    ['a step up at its end', entry({ path: 'project/a/..' })],
    ['an absolute path', entry({ path: '/etc/passwd' })],
    ['an empty name', entry({ path: 'project//a' })],
    ['another root', entry({ path: 'home/a' })],
    ['a root itself', entry({ path: 'project' })],
  ])('is refused for %s', async (_, one) => {
    await expect(verifyBackup(pack([one]))).rejects.toMatchObject({ code: 'NOT_A_BACKUP' });
  });

  test('is refused for a file that comes twice', async () => {
    await expect(verifyBackup(pack([entry({}), entry({})]))).rejects.toMatchObject({
      code: 'NOT_A_BACKUP',
    });
  });

  test('is refused for too many files and too many bytes, before they are read', async () => {
    const read = async (file: string, limits: Partial<typeof READ_LIMITS>) => {
      const archive = await openArchive(file, {}, { ...READ_LIMITS, ...limits });
      for await (const one of archive.files()) void one;
    };
    const many = pack(Array.from({ length: 50 }, (_, n) => entry({ path: `project/${n}` })));
    await expect(read(many, { maxEntries: 40 as never })).rejects.toMatchObject({
      code: 'NOT_A_BACKUP',
    });
    const bomb = pack([entry({}, Buffer.alloc(50_000_000))]);
    expect(readFileSync(bomb).length).toBeLessThan(10_000);
    await expect(read(bomb, { maxBytes: 10_000_000 as never })).rejects.toMatchObject({
      code: 'NO_ROOM',
    });
  });
});
