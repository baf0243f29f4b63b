/**
 * Makes `patchclaw-base:bookworm`, the base of the agent's image, without a registry.
 *
 *     sudo npx node scripts/base-image.ts
 *
 * Debian by debootstrap, plus the Node and npm that this project runs on. Two runs on one state of
 * Debian's archive give the same bytes. Does nothing where the image is there already.
 */
import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';

const IMAGE = 'patchclaw-base:bookworm';
const LABEL = 'patchclaw.recipe';

/** Files that differ between two runs, or that no container needs; `*` as in a shell. */
const LEFT_OUT = [
  'dev/*',
  'debootstrap',
  'etc/hostname',
  'etc/machine-id',
  'etc/resolv.conf',
  'usr/share/doc/*',
  'usr/share/info/*',
  'usr/share/locale/*',
  'usr/share/man/*',
  'var/cache/apt/*',
  'var/cache/debconf/*-old',
  'var/cache/ldconfig/*',
  'var/lib/apt/lists/*',
  'var/lib/dpkg/*-old',
  'var/log/*',
];

if (import.meta.main) await makeBaseImage((line) => console.error(line));

/** Makes the image unless one of the same recipe and Node is there. Needs root, for debootstrap. */
export async function makeBaseImage(onProgress: (line: string) => void): Promise<void> {
  const npmDir = await npmFolder();
  const recipe = await recipeDigest(npmDir);
  if ((await presentRecipe()) === recipe) return onProgress(`${IMAGE} is there already.`);

  const work = await mkdtemp(join(tmpdir(), 'patchclaw-base-'));
  try {
    const root = join(work, 'root');
    onProgress('Debian bookworm by debootstrap, about half a minute');
    await debootstrap(root);
    await addNode(root, npmDir);
    onProgress(`importing ${IMAGE}`);
    await importImage(root, recipe);
    onProgress(`${IMAGE} is ready, with Node ${process.version}.`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Returns the folder of the npm on the path; `npm root` names its prefix instead, which may hold none. */
async function npmFolder(): Promise<string> {
  const { stdout } = await execa('sh', ['-c', 'command -v npm']);
  return resolve(await realpath(stdout.trim()), '../..');
}

async function recipeDigest(npmDir: string): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  hash.update(await readFile(import.meta.filename));
  hash.update(await readFile(join(npmDir, 'package.json')));
  return hash.digest('hex').slice(0, 16);
}

async function presentRecipe(): Promise<string | null> {
  const format = `{{ index .Config.Labels "${LABEL}" }}`;
  const asked = await execa('docker', ['image', 'inspect', '--format', format, IMAGE], {
    reject: false,
  });
  return asked.exitCode === 0 ? asked.stdout.trim() : null;
}

async function debootstrap(root: string): Promise<void> {
  // The date in /etc/shadow is the only one that ends up inside a file.
  const env = { SOURCE_DATE_EPOCH: '0', LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  const packages = '--include=ca-certificates';
  await execa('debootstrap', ['--variant=minbase', packages, 'bookworm', root], { env });
}

async function addNode(root: string, npmDir: string): Promise<void> {
  const local = join(root, 'usr/local');
  await mkdir(join(local, 'lib/node_modules'), { recursive: true });
  await cp(process.execPath, join(local, 'bin/node'));
  await cp(npmDir, join(local, 'lib/node_modules/npm'), { recursive: true });
  await execa('ln', ['-s', '../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm')]);
  await execa('chown', ['-R', '0:0', join(local, 'lib/node_modules'), join(local, 'bin')]);
}

async function importImage(root: string, recipe: string): Promise<void> {
  const excludes = LEFT_OUT.map((pattern) => `--exclude=./${pattern}`);
  const tar = execa(
    'tar',
    [
      '--sort=name',
      '--mtime=@0',
      '--numeric-owner',
      '--format=gnu',
      ...excludes,
      '-C',
      root,
      '-c',
      '.',
    ],
    { buffer: false },
  );
  const changes = [
    ['--change', `LABEL ${LABEL}=${recipe}`],
    ['--change', 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
    ['--change', 'CMD ["node"]'],
  ];
  await tar.pipe('docker', ['import', ...changes.flat(), '-', IMAGE]);
}
