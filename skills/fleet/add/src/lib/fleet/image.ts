import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { docker, imageNameOf } from './containers.ts';
import { FleetRefused } from './fleet-book.ts';

const DOCKERFILE = join(import.meta.dirname, 'image/Dockerfile');
const PROGRAM = fileURLToPath(new URL('./image/instance.mjs', import.meta.url));
const OWN_FILES = [DOCKERFILE, PROGRAM];
/** Made by scripts/base-image.ts, for machines that reach no registry. */
const LOCAL_BASE = 'patchclaw-base:bookworm';
const REGISTRY_BASE = 'node:24-slim';
/** What belongs to this installation alone, whatever git thinks of it. */
const PRIVATE =
  /(^|\/)(\.env(?!\.example$)[^/]*|[^/]*\.env)$|^(\.git\/|data\/|node_modules\/|groups\/(?!README\.md$)|\.claw\/(?!resolutions\/))/;

export type ImageParts = {
  readonly projectDir: string;
  /** The id of the fleet, by which an image that nothing needs any more is found. */
  readonly fleetId: string;
  /** A folder on the disk of the project, for what the image is made of. */
  readonly workDir: string;
  readonly progress: (text: string) => void;
};

/**
 * Makes the image of this project as it is now, skills and edits included, which becomes the release of the instances.
 * Its tag is a digest of all files in it, so one that is there is not made again. Settings, conversations and groups of
 * this installation are never part of it, nor is a file that git ignores.
 *
 * @returns its name and tag
 */
export async function makeImage(parts: ImageParts): Promise<string> {
  const { projectDir, fleetId, workDir, progress } = parts;
  if (process.platform !== 'linux') {
    throw new FleetRefused(
      'The packages here are not those of Linux: keep the fleet on a Linux machine.',
    );
  }
  const paths = await releasePaths(projectDir);
  const image = `${imageNameOf(fleetId)}:${await digestOf(projectDir, paths)}`;
  const found = await docker('images', '--quiet', image);
  if (found.trim() !== '') return image;
  progress('Making the image of this code, which takes a minute or two');
  const context = join(workDir, 'image');
  await rm(context, { recursive: true, force: true });
  try {
    for (const path of paths) {
      const to = join(context, 'release', path);
      await mkdir(dirname(to), { recursive: true });
      await cp(join(projectDir, path), to, { verbatimSymlinks: true, preserveTimestamps: true });
    }
    for (const path of OWN_FILES) await cp(path, join(context, basename(path)));
    await copyPackages(projectDir, context);
    const base =
      (await docker('images', '--quiet', LOCAL_BASE)).trim() === '' ? REGISTRY_BASE : LOCAL_BASE;
    const label = `patchclaw.fleet=${fleetId}`;
    const options = ['--quiet', '--build-arg', `BASE=${base}`, '--label', label, '--tag', image];
    await docker('build', options, context);
    return image;
  } finally {
    await rm(context, { recursive: true, force: true });
  }
}

async function releasePaths(projectDir: string): Promise<readonly string[]> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = await execa('git', args, { cwd: projectDir, reject: false });
  if (listed.exitCode !== 0) {
    throw new FleetRefused(
      'The project is no git repository, so nobody knows which files are its code. Make it one: git init',
    );
  }
  const deleted = await execa('git', ['ls-files', '-z', '--deleted'], { cwd: projectDir });
  const gone = new Set(deleted.stdout.split('\0'));
  return listed.stdout
    .split('\0')
    .filter((path) => path !== '' && !gone.has(path) && !PRIVATE.test(path))
    .sort();
}

async function digestOf(projectDir: string, paths: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const path of OWN_FILES) hash.update(await readFile(path));
  for (const path of paths) {
    hash.update(`\0${path}\0`).update(await readFile(join(projectDir, path)));
  }
  return hash.digest('hex').slice(0, 12);
}

/** Links the packages, which npm replaces and never writes into; on another disk they are copied. */
async function copyPackages(projectDir: string, context: string): Promise<void> {
  const [from, to] = [join(projectDir, 'node_modules'), join(context, 'node_modules')];
  const linked = await execa('cp', ['-al', from, to], { reject: false });
  if (linked.exitCode !== 0) {
    await rm(to, { recursive: true, force: true });
    await execa('cp', ['-a', from, to]);
  }
  await rm(join(to, '.cache'), { recursive: true, force: true });
}
