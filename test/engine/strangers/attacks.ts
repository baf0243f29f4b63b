import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';

/** What a stranger puts into a repository; paths that lead out of it lead into the home folder around it. */
export type Attack = { readonly name: string; readonly plant: (root: string) => void };

/** The folder of a clone in its owner's home: two folders down. */
export const CLONE = 'downloads/clone';
const UP = '../..';

function put(root: string, path: string, text: string, mode = 0o644): void {
  fs.mkdirSync(dirname(join(root, path)), { recursive: true });
  fs.writeFileSync(join(root, path), text, { mode });
}

function link(root: string, path: string, to: string): void {
  fs.mkdirSync(dirname(join(root, path)), { recursive: true });
  fs.rmSync(join(root, path), { recursive: true, force: true });
  fs.symlinkSync(to, join(root, path));
}

const digest = (text: string | Buffer) =>
  `sha256:${createHash('sha256').update(text).digest('hex')}`;

const OWNED = 'echo OWNED\n';

/** A journal with a right checksum, as anybody can make it. */
export function journalOf(
  id: string,
  steps: readonly object[],
  more: object = {},
  seal: string | null = null,
): string {
  const json = JSON.stringify({
    ...{ version: 1, id, verb: 'apply', summary: 'x', committedAt: '2026-01-01T00:00:00Z' },
    ...{ stateBefore: null, stateAfter: null, steps, foldersMade: [], folderModes: {}, ...more },
  });
  return `${json}\n${digest(json)}\n${seal === null ? '' : `${seal}\n`}`;
}

const write = (path: string, before: string | null = null) => ({
  kind: 'file',
  path,
  before: before === null ? null : { digest: digest(before), isExecutable: false },
  after: { digest: digest(OWNED), isExecutable: false },
});

function plantJournal(
  root: string,
  steps: readonly object[],
  { name = 'journal.json', more = {}, seal = null as string | null, place = '.claw/tx' } = {},
): void {
  const id = '000001-apply';
  put(root, `.claw/tx/${id}/new/0`, OWNED);
  put(root, `.claw/backup/${id}/before/0`, OWNED);
  put(root, `${place}/${id}/${name}`, journalOf(id, steps, more, seal));
}

function journalAttack(
  name: string,
  steps: readonly object[],
  options: Parameters<typeof plantJournal>[2] = {},
): Attack {
  return { name, plant: (root) => plantJournal(root, steps, options) };
}

/** Text of the files in the home folder that attacks know. */
export const HOME_FILES: Readonly<Record<string, string>> = {
  '.bashrc': 'alias ll="ls -l"\n',
  '.ssh/authorized_keys': 'ssh-ed25519 OWNER\n',
  'documents/202611-invoices/one.txt': 'invoice\n',
  'documents/000001-apply/before/0': 'a draft\n',
  'pictures/one.txt': 'picture\n',
};

const swap = (path: string, prepared: string | null) => ({
  kind: 'swap',
  path,
  prepared,
  hadFolder: true,
});

/** Everything that comes with a `.claw/` of somebody else's. */
export const JOURNALS: readonly Attack[] = [
  journalAttack('a journal that makes a file in the home', [write(`${UP}/.profile`)]),
  journalAttack('a journal that replaces .bashrc', [write(`${UP}/.bashrc`, HOME_FILES['.bashrc'])]),
  journalAttack('a journal that makes a file of the project', [write('owned.txt')]),
  journalAttack('a journal that deletes a file of the project', [
    { ...write('app.mjs', 'one\n'), after: null },
  ]),
  journalAttack('a journal with a seal that is guessed', [write('owned.txt')], {
    seal: 'a'.repeat(64),
  }),
  journalAttack('a journal with an absolute path', [write('/tmp/claw-owned')]),
  journalAttack('a journal that writes a hook of git', [write('.git/hooks/post-checkout')]),
  journalAttack('a journal that swaps .ssh', [swap(`${UP}/.ssh`, 'keys')]),
  journalAttack('a journal that swaps a folder of the project', [swap('src', '.claw/tx/evil')]),
  journalAttack('a journal whose prepared folder is in the home', [
    swap('node_modules', `.claw/${UP}/${UP}/documents`),
  ]),
  journalAttack('a journal that goes back', [write('app.mjs')], { name: 'rollback.json' }),
  journalAttack('a journal that makes folders elsewhere', [write('owned.txt')], {
    more: { foldersMade: [`${UP}/pictures`] },
  }),
  journalAttack('a record to undo', [write('app.mjs', OWNED)], {
    name: 'record.json',
    place: '.claw/backup',
  }),
  journalAttack('a record that replaces others, by a path', [write('app.mjs', OWNED)], {
    name: 'record.json',
    place: '.claw/backup',
    more: { replaces: [`000001-/${UP}/${UP}/${UP}/documents`] },
  }),
  {
    name: 'a journal of another id',
    plant: (root) =>
      put(
        root,
        '.claw/tx/000001-apply/journal.json',
        journalOf(`../../${UP}/documents`, [write('owned.txt')]),
      ),
  },
  {
    name: 'an operation that waits, with consent',
    plant: (root) => {
      const waiting = { verb: 'apply', arguments: ['demo'], allow: ['**'], state: null };
      put(
        root,
        '.claw/pending/.claw-operation.yaml',
        JSON.stringify({ ...waiting, conflicts: [] }),
      );
      put(root, '.claw/pending/.claw-conflicts.json', '[]');
    },
  },
  {
    name: 'a lock that is a database with a journal',
    plant: (root) => {
      put(root, '.claw/lock.db', 'SQLite format 3\0 not ours');
      put(root, '.claw/lock.db-journal', `${process.cwd()}/.bashrc`);
    },
  },
  {
    name: 'a holder that lives',
    plant: (root) =>
      put(
        root,
        '.claw/cache/holder.json',
        JSON.stringify({ pid: process.pid, verb: '\u001b[2Jx', started: null }),
      ),
  },
  {
    name: 'a proof that has passed',
    plant: (root) => put(root, '.claw/cache/proof-passed.json', `${digest('[]')}\n["everything"]`),
  },
];

const LINKED = [
  '',
  '/tx',
  '/backup',
  '/cache',
  '/pending',
  '/packages',
  '/composed',
  '/custom',
  '/resolutions',
  '/base',
  '/cache/proof',
];

/** Links below `.claw/`, each to a folder or a file of the home. */
export const LINKS: readonly Attack[] = [
  ...LINKED.map((place): Attack => {
    const up = '../'.repeat(2 + place.split('/').length - 1);
    return {
      name: `.claw${place} is a link to the documents`,
      plant: (root) => link(root, `.claw${place}`, `${up}documents`),
    };
  }),
  ...['cache/holder.json', 'lock.db', '.gitignore', '.gitattributes', 'state.yaml'].map(
    (place): Attack => ({
      name: `.claw/${place} is a link to a key file`,
      plant: (root) =>
        link(
          root,
          `.claw/${place}`,
          `${'../'.repeat(2 + place.split('/').length)}.ssh/authorized_keys`,
        ),
    }),
  ),
  {
    name: 'drafts of caches are links, by every process id',
    plant: (root) => {
      for (let pid = process.pid - 20; pid < process.pid + 20; pid += 1) {
        link(root, `.claw/cache/stat.json.${pid}`, '../../../../.bashrc');
        link(root, `.claw/cache/state.json.${pid}`, '../../../../.bashrc');
      }
    },
  },
  {
    name: 'a transaction is a link',
    plant: (root) => link(root, '.claw/tx/000001-apply', '../../../../documents'),
  },
  {
    name: 'a part of a transaction is a link',
    plant: (root) => {
      put(root, '.claw/tx/000001-apply/x', '');
      link(root, '.claw/backup/000001-apply/before', '../../../../../documents');
    },
  },
  {
    name: 'a view of a dead process is a link',
    plant: (root) => link(root, '.claw/tx/view-4194305-x', '../../../../documents'),
  },
];

const OTHER = '../../../other/.git';

/** Folders of git that lead out of the clone, to the documents, git's settings or another repository of the home. */
export const GIT_FOLDERS: readonly Attack[] = [
  {
    name: "git's settings are a link to those of the owner",
    plant: (root) => link(root, '.git/config', '../../../.gitconfig'),
  },
  ...['refs/remotes', 'logs/refs/remotes', 'objects/pack'].map(
    (place): Attack => ({
      name: `.git/${place} is a link to the documents`,
      plant(root) {
        const up = '../'.repeat(2 + place.split('/').length);
        link(root, `.git/${place}`, `${up}documents`);
      },
    }),
  ),
  {
    name: "git's common folder is another repository",
    plant: (root) => put(root, '.git/commondir', `${OTHER}\n`),
  },
  {
    name: '.git is a link to another repository',
    plant: (root) => link(root, '.git', '../../other/.git'),
  },
  {
    name: '.git names another repository',
    plant(root) {
      fs.rmSync(join(root, '.git'), { recursive: true });
      put(root, '.git', 'gitdir: ../../other/.git\n');
    },
  },
];

/** Settings of git and npm that run a program: each writes its name into `ran/` of the home. */
export function plantSettings(root: string, home: string): void {
  const canary = (name: string) => {
    const path = join(root, `canary-${name}.sh`);
    put(root, `canary-${name}.sh`, `#!/bin/sh\ntouch '${home}/ran/${name}'\nexec cat\n`, 0o755);
    return path;
  };
  put(root, '.gitattributes', '* filter=evil\n*.txt filter=proc diff=evil\n');
  const config = [
    `[core]\n\tfsmonitor = ${canary('fsmonitor')}\n\thooksPath = hooks\n\tpager = ${canary('pager')}`,
    `\tsshCommand = ${canary('ssh')}\n\teditor = ${canary('editor')}\n\taskPass = ${canary('askpass')}`,
    `[filter "evil"]\n\tsmudge = ${canary('smudge')}\n\tclean = ${canary('clean')}`,
    `[filter "proc"]\n\tprocess = ${canary('process')}\n\trequired = true`,
    `[diff]\n\texternal = ${canary('external')}\n[diff "evil"]\n\ttextconv = ${canary('textconv')}`,
    `[log]\n\tshowSignature = true\n[gpg]\n\tprogram = ${canary('gpg')}`,
    `[credential]\n\thelper = ${canary('credential')}`,
    `[remote "origin"]\n\turl = ext::${canary('ext')}\n\tpromisor = true\n\tuploadpack = ${canary('uploadpack')}`,
    `[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always`,
    `[extensions]\n\tpartialClone = origin\n[alias]\n\tls-files = !${canary('alias')}`,
    '',
  ];
  fs.appendFileSync(join(root, '.git/config'), config.join('\n'));
  for (const hook of [
    'post-checkout',
    'post-index-change',
    'reference-transaction',
    'pre-commit',
  ]) {
    put(root, `hooks/${hook}`, `#!/bin/sh\ntouch '${home}/ran/hook-${hook}'\n`, 0o755);
  }
  const loaded = `require('fs').writeFileSync(${JSON.stringify(`${home}/ran/node-options`)}, '')`;
  put(root, 'loaded.cjs', loaded);
  put(
    root,
    '.npmrc',
    [
      `git=${canary('npm-git')}`,
      `script-shell=${canary('script-shell')}`,
      `node-options=--require ${join(root, 'loaded.cjs')}`,
      `"git"=${canary('npm-git-quoted')}`,
      'ignore-scripts=false',
      `globalconfig=${join(root, 'other-npmrc')}`,
      '',
    ].join('\n'),
  );
}
