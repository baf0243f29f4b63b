import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TestConversation, TestTree } from '../../testing/claw/supervised-project.ts';

/** Gives a tree a git history with the release that it is, and a remote with newer ones. */
function publishReleases(tree: TestTree): void {
  const git = (...args: string[]) => {
    const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];
    execFileSync('git', [...who, ...args], { cwd: tree.dir });
  };
  const release = (version: string, files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) writeFileSync(join(tree.dir, path), text);
    const manifest = join(tree.dir, 'package.json');
    const text = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, text.replace(/"version": "[^"]*"/, `"version": "${version}"`));
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '-m', version);
    git('tag', `v${version}`);
  };
  git('init', '--quiet', '--initial-branch=main');
  release('1.0.0', { '.gitignore': 'node_modules\ndata/\nremote.git/\n' });
  git('checkout', '--quiet', '-b', 'next');
  release('1.1.0', { 'src/channels/none.txt': 'new in 1.1.0\n' });
  release('1.2.0', { 'src/channels/broken.ts': "throw new Error('the stars are wrong');\n" });
  git('init', '--quiet', '--bare', 'remote.git');
  git('remote', 'add', 'origin', join(tree.dir, 'remote.git'));
  git('push', '--quiet', '--tags', 'origin');
  git('checkout', '--quiet', 'main');
  git('branch', '--quiet', '-D', 'next');
  git('tag', '-d', 'v1.1.0', 'v1.2.0');
}

test('an update restarts onto the new core, and one that does not come up is taken back and told', async () => {
  using tree = new TestTree();
  publishReleases(tree);
  const none = join(tree.dir, 'src/channels/none.txt');
  const git = (...args: string[]) => execFileSync('git', args, { cwd: tree.dir });
  git('fetch', '--quiet', 'origin', 'refs/tags/v1.1.0:refs/tags/v1.1.0');
  {
    await using conversation = TestConversation.start(tree);
    expect(await conversation.end('/update v1.1.0\nyes\n/status\n')).toBe(0);
    expect(conversation.stdout).toContain('Core 1.0.0 → 1.1.0: 2 files of it changed.');
    expect(conversation.stdout).toContain('The core is 1.1.0 now: 2 files changed.');
    expect(conversation.stdout).toContain('- version: Patchclaw 1.1.0');
    expect(readFileSync(none, 'utf8')).toBe('new in 1.1.0\n');
  }
  await using conversation = TestConversation.start(tree);
  expect(await conversation.end('/update\nyes\n/status\n')).toBe(0);
  expect(conversation.stdout).toContain('Core 1.1.0 → 1.2.0: 2 files of it changed.');
  expect(conversation.stdout).toContain('The update to v1.2.0 was taken back');
  expect(conversation.stdout).toContain('the stars are wrong');
  expect(conversation.stdout).toContain('- version: Patchclaw 1.1.0');
  expect(existsSync(join(tree.dir, 'src/channels/broken.ts'))).toBe(false);
  rmSync(join(tree.dir, 'remote.git'), { recursive: true });
});
