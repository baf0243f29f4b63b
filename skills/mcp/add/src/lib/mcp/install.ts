import { chmod, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import type { StdioServer } from './config.ts';
import { packageOf, serverFolder } from './packages.ts';

/**
 * Fetches the package of a server into a folder of its own, which its container sees. Nothing of the package runs
 * here: npm runs no scripts of it, and of Python only what is built already is taken.
 *
 * @returns false where the server's command names no package
 * @throws Error in words for the owner
 */
export async function installServer(
  server: StdioServer,
  dataDir: string,
  signal: AbortSignal,
): Promise<boolean> {
  const found = packageOf(server);
  if (found === null) return false;
  const { files } = serverFolder(dataDir, server.name);
  await rm(files, { recursive: true, force: true });
  await mkdir(files, { recursive: true });
  const [program, args] =
    found.kind === 'npm'
      ? [
          'npm',
          [
            'install',
            '--prefix',
            files,
            '--ignore-scripts',
            '--no-audit',
            '--no-fund',
            '--omit=dev',
            found.spec,
          ],
        ]
      : [
          'python3',
          ['-m', 'pip', 'install', '--target', files, '--only-binary=:all:', pipSpec(found.spec)],
        ];
  const ran = await execa(program as string, args as string[], {
    reject: false,
    cancelSignal: signal,
    stdin: 'ignore',
  });
  if (ran.exitCode === 0) {
    await letRead(files);
    return true;
  }
  await rm(files, { recursive: true, force: true });
  const why = ran.exitCode === undefined ? `${program} cannot be run` : lastLine(ran.stderr);
  throw new Error(`${found.spec} could not be installed: ${why}`);
}

/** `uvx` writes a version after an @. */
function pipSpec(spec: string): string {
  const [name = '', version] = spec.split('@');
  return version === undefined || version === 'latest' ? name : `${name}==${version}`;
}

function lastLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (
    lines.findLast((line) => /error/i.test(line) && !/complete log|debug-0/.test(line)) ??
    lines.at(-1) ??
    'no reason given'
  ).slice(0, 300);
}

/** The server runs as another user, whatever the owner's own files look like at first. */
async function letRead(path: string): Promise<void> {
  const found = await lstat(path);
  if (found.isSymbolicLink()) return;
  await chmod(
    path,
    (found.mode & 0o777) | (found.isDirectory() || (found.mode & 0o100) !== 0 ? 0o555 : 0o444),
  );
  if (!found.isDirectory()) return;
  for (const name of await readdir(path)) await letRead(join(path, name));
}
