/*
 * Compares the code of a NanoClaw checkout with the upstream commit that it left, and names for each difference what is here
 * already, or where it would go. Nothing of it is copied: code of another program does not run here.
 *
 * The upstream commit is the merge base with a remote of NanoClaw's, else the commit that its recorded version names. git is
 * only asked for what no hook, filter or helper of that folder takes part in; files are hashed here.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { jsonWithin, MESSENGER_BOUNDS } from '../../lib/bounded-json.ts';
import { list, text } from '../../lib/bounded-schema.ts';
import type { SourceCode } from '../imported-items.ts';
import { isFile, isFolder, namesIn, readSourceJson, readSourceText } from '../source-files.ts';

const UPSTREAM_URL = /[/:](qwibitai|gavrielc|nanocoai)\/nanoclaw(\.git)?\/?$/i;
const BRANCHES = ['main', 'master', 'HEAD'];
/** Memory, history, settings and skills of agents, which have lines of their own; and what is made anew. */
const NO_CODE =
  /^(groups|data|store|logs|dist|node_modules|container\/skills|\.nanoclaw)\/|^\.env$|(^|\/)(package-lock\.json|pnpm-lock\.yaml|bun\.lock)$/;
const MOST_FILES = 20_000;
const MOST_BYTES = 16_777_216;
/** More lines than this are a program of its own, which nobody reads here. */
const MOST_LINES = 60;
const SHOWN = 4;

/** What NanoClaw calls a skill, and how its files are called; `skill` is null where it is part of this platform. */
const HERE: readonly { readonly names: RegExp; readonly skill: string | null }[] = [
  { names: /telegram/, skill: 'telegram' },
  { names: /discord/, skill: 'discord' },
  { names: /slack/, skill: 'slack' },
  { names: /signal/, skill: 'signal' },
  { names: /matrix/, skill: 'matrix' },
  { names: /gmail|e-?mail|imap/, skill: 'email' },
  { names: /linear/, skill: 'linear' },
  { names: /mqtt/, skill: 'mqtt' },
  { names: /webhook/, skill: 'webhook' },
  { names: /transcri|whisper|voice/, skill: 'voice' },
  { names: /brave|web-?search|web-?fetch/, skill: 'web' },
  { names: /heartbeat/, skill: 'heartbeat' },
  { names: /semantic-?memory|embedding/, skill: 'semantic-memory' },
  { names: /whatsapp|image-?vision|reaction|compact|backup|ollama/, skill: null },
];

/** Where code of an owner's would go, by its path there: the first that fits. */
const PLACES: readonly (readonly [RegExp, string])[] = [
  [/(^|\/)(tests?|__tests__)\/|\.test\.ts$/, 'a test beside the file that it tries'],
  [/^src\/channels\//, 'a channel, in src/channels/: docs/writing-a-channel.md'],
  [
    /^src\/ipc|ipc-mcp|mcp-tools/,
    'a tool that agents ask the host for, in src/tools/: docs/extending.md',
  ],
  [
    /^container\/agent-runner\//,
    'a tool or a section of the prompt in the container, in container/agent/: docs/extending.md',
  ],
  [
    /^container\//,
    'packages of the agents’ image, in container/packages.json: docs/writing-a-skill.md',
  ],
  [/^src\/.*(command)/, 'a command, in src/commands/: docs/extending.md'],
  [
    /^src\/.*(schedul|cron|monitor|poll|server|dashboard)/,
    'a service, in src/services/: docs/extending.md',
  ],
  [
    /^src\/(router|formatting|sender|.*filter)/,
    'an inbound filter, in src/inbound-filters/, or a part of a channel: docs/extending.md',
  ],
  [
    /^src\/.*(allow|permission|guard|security|policy)/,
    'a guard, in src/guards/: docs/extending.md',
  ],
  [
    /^src\/(db|.*store|.*migrat)/,
    'a database of the contribution that needs it (openDatabase): docs/extending.md',
  ],
  [
    /^src\/(container-|mount|credential|egress)/,
    'a sandbox engine, in src/sandbox/engines/: docs/extending.md',
  ],
  [
    /^src\/(config|env)\b|^\.env\.example$/,
    'settings of the contribution that reads them: docs/extending.md',
  ],
  [
    /^package\.json$/,
    'npm_dependencies in the manifest of the skill that needs them: docs/writing-a-skill.md',
  ],
  [/^(setup|scripts)\//, 'a step of the set-up, in src/setup/: docs/extending.md'],
  [
    /^src\//,
    'the host itself: an edit of src/host/, kept by `npx claw customize`: docs/customising.md',
  ],
  [/\.md$|^docs\/|^\.github\//, 'no place: it is about that program'],
];
const ELSEWHERE = 'a file of your own: docs/extending.md says where each kind goes';

const Manifest = z.looseObject({ version: text(100).optional() });
const Dependencies = z.looseObject({
  dependencies: z.record(z.string(), text(200)).default({}),
});
const EngineState = z.looseObject({
  core_version: text(100).optional(),
  applied_skills: list(
    z.looseObject({
      name: text(200),
      file_hashes: z.record(z.string(), text(200)).default({}),
    }),
  ).default([]),
});
type EngineState = z.output<typeof EngineState>;

/** A file that differs from upstream. */
type Difference = {
  readonly path: string;
  readonly kind: 'added' | 'changed' | 'deleted';
  /** The SHA-256 of its bytes; null where it is gone. */
  readonly sha256: string | null;
  readonly blob: string | null;
};

/** Compares a checkout with the upstream commit that it left; null if the folder is not a checkout. */
export function readForkCode(root: string): SourceCode | null {
  if (!isFolder(join(root, '.git')) && !isFile(join(root, '.git'))) return null;
  const state = readEngineState(root);
  const git = gitIn(root);
  try {
    const base = findBase(root, git, state);
    if (base === null) return { base: null, notes: [UNKNOWN] };
    const before = treeAt(git, base);
    const differences = differencesFrom(root, git, before);
    const version = versionAt(git, base);
    const commit = base.slice(0, 9);
    return {
      base: version === null ? `commit ${commit}` : `${version} (${commit})`,
      notes: notesOf(root, git, { base, before, differences, state }),
    };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return { base: null, notes: [{ what: 'its code', text: `git cannot compare it: ${reason}` }] };
  }
}

const UNKNOWN = {
  what: 'its code',
  text: 'not compared: its history has neither a remote of NanoClaw nor its recorded version. Add one there and import again: git remote add upstream https://github.com/qwibitai/nanoclaw && git fetch upstream',
};

type Git = (...args: readonly string[]) => string;

/** Settings of a stranger's `.git/config` that would start programs, or reach another repository that does. */
const SAFE = [
  'core.fsmonitor=false',
  'core.hooksPath=/dev/null',
  'core.pager=cat',
  'log.showSignature=false',
  'safe.bareRepository=explicit',
  'protocol.allow=never',
  ...['ext', 'file', 'ftp', 'ftps', 'git', 'http', 'https', 'ssh'].map(
    (protocol) => `protocol.${protocol}.allow=never`,
  ),
].flatMap((setting) => ['-c', setting]);

/** Asks git without hooks, helpers or locks: nothing is written, and nothing of the folder's settings runs. */
function gitIn(root: string): Git {
  return (...args) =>
    execFileSync('git', [...SAFE, ...args], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        GIT_OPTIONAL_LOCKS: '0',
        GIT_NO_LAZY_FETCH: '1',
        GIT_TERMINAL_PROMPT: '0',
        GIT_CEILING_DIRECTORIES: join(root, '..'),
      },
    });
}

function orNull(ask: () => string): string | null {
  try {
    return ask().trim() || null;
  } catch {
    return null; // git says no by its exit code: there is no such ref, file or common commit.
  }
}

function findBase(root: string, git: Git, state: EngineState | null): string | null {
  for (const remote of upstreamRemotes(git)) {
    for (const branch of BRANCHES) {
      const found = orNull(() => git('merge-base', 'HEAD', `refs/remotes/${remote}/${branch}`));
      if (found !== null) return found;
    }
  }
  const recorded =
    state?.core_version ?? readSourceJson(join(root, 'package.json'), Manifest)?.version;
  if (recorded === undefined || !/^[\w.+-]+$/.test(recorded)) return null;
  for (const tag of [`v${recorded}`, recorded]) {
    const found = orNull(() => git('merge-base', 'HEAD', `refs/tags/${tag}`));
    if (found !== null) return found;
  }
  // The commit that brought the version in: NanoClaw raises it by itself after each change.
  const log = [
    'log',
    '--format=%H',
    '--no-textconv',
    '--no-ext-diff',
    `-S"version": "${recorded}"`,
  ];
  return (
    orNull(() => git(...log, 'HEAD', '--', 'package.json'))
      ?.split('\n')
      .at(-1) ?? null
  );
}

function upstreamRemotes(git: Git): readonly string[] {
  const lines =
    orNull(() => git('config', '--get-regexp', '^remote\\..*\\.url$'))?.split('\n') ?? [];
  const remotes = lines.flatMap((line) => {
    const [, name, url = ''] = /^remote\.(.*)\.url (.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, url }];
  });
  const known = remotes.filter(({ name, url }) => name === 'upstream' || UPSTREAM_URL.test(url));
  return known.map(({ name }) => name);
}

/** Returns the blob of each file of a commit, by its path. */
function treeAt(git: Git, commit: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const line of git('ls-tree', '-r', '-z', commit).split('\0')) {
    const [, mode, blob, path] = /^(\d+) blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    if (path !== undefined && blob !== undefined && mode !== '120000') files.set(path, blob);
  }
  return files;
}

function versionAt(git: Git, commit: string): string | null {
  const manifest = orNull(() => git('cat-file', 'blob', `${commit}:package.json`));
  return Manifest.safeParse(jsonWithin(manifest ?? '{}', MESSENGER_BOUNDS)).data?.version ?? null;
}

function differencesFrom(
  root: string,
  git: Git,
  before: ReadonlyMap<string, string>,
): readonly Difference[] {
  const listed = git('ls-files', '-z', '--cached', '--others', '--exclude-standard');
  const paths = [...new Set(listed.split('\0'))].filter(
    (path) => path !== '' && !NO_CODE.test(path),
  );
  if (paths.length > MOST_FILES) throw new Error(`it has more than ${MOST_FILES} files`);
  const algorithm = [...before.values()][0]?.length === 64 ? 'sha256' : 'sha1';
  const there = new Set<string>();
  const differences: Difference[] = [];
  for (const path of paths.sort()) {
    const bytes = bytesOf(join(root, path));
    if (bytes === null) continue;
    there.add(path);
    const known = before.get(path);
    const blob = blobOf(bytes, algorithm);
    if (known === blob) continue;
    // A checkout with other line ends is the same text.
    const unix = Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1');
    if (known !== undefined && known === blobOf(unix, algorithm)) continue;
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    differences.push({ path, kind: known === undefined ? 'added' : 'changed', sha256, blob });
  }
  for (const path of before.keys()) {
    if (there.has(path) || NO_CODE.test(path)) continue;
    differences.push({ path, kind: 'deleted', sha256: null, blob: null });
  }
  return differences;
}

function bytesOf(path: string): Buffer | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile() !== true || stats.size > MOST_BYTES) return null;
  return readFileSync(path);
}

/** Computes the name that git has for a file. */
function blobOf(bytes: Buffer, algorithm: 'sha1' | 'sha256'): string {
  return createHash(algorithm).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

function readEngineState(root: string): EngineState | null {
  const source = readSourceText(join(root, '.nanoclaw/state.yaml'));
  try {
    return source === null ? null : EngineState.parse(parse(source, { maxAliasCount: 0 }));
  } catch {
    return null; // Then only git tells what was changed.
  }
}

type Compared = {
  readonly base: string;
  readonly before: ReadonlyMap<string, string>;
  readonly differences: readonly Difference[];
  readonly state: EngineState | null;
};

function notesOf(root: string, git: Git, compared: Compared): SourceCode['notes'] {
  const { differences, before, state } = compared;
  const bySkill = new Map<string, string[]>();
  const packages = new Set<string>();
  const own: Difference[] = [];
  const shipped = shippedFiles(before);
  for (const difference of differences) {
    const { path, kind } = difference;
    const [, folder] = /^\.claude\/skills\/([^/]+)\//.exec(path) ?? [];
    if (folder !== undefined) {
      if (kind !== 'deleted') packages.add(folder);
      continue;
    }
    const skill = skillOf(difference, shipped, state);
    if (skill === null) own.push(difference);
    else {
      const name = knownHere(skill)?.skill ?? skill;
      bySkill.set(name, [...(bySkill.get(name) ?? []), path]);
    }
  }
  const lines = [
    ...[...bySkill].map(([skill, paths]) => ofSkill(root, skill, paths)),
    ...[...packages].sort().map((folder) => ofPackage(root, folder)),
    ...own.map((difference) => ofOwner(root, git, compared.base, difference)),
  ];
  if (lines.length === 0) return [{ what: 'its code', text: 'as upstream has it' }];
  const more = lines.length - MOST_LINES;
  if (more <= 0) return lines;
  const rest = { what: `${more} more files`, text: 'git diff there shows them' };
  return [...lines.slice(0, MOST_LINES), rest];
}

/** The files that skill packages of upstream bring, by their blobs: `.claude/skills/<name>/add/<path>`. */
function shippedFiles(before: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const [path, blob] of before) {
    const [, name, target] = /^\.claude\/skills\/([^/]+)\/(?:add|modify)\/(.+)$/.exec(path) ?? [];
    if (name !== undefined) files.set(`${blob} ${target}`, name);
  }
  return files;
}

/** Names NanoClaw's skill that a difference comes from; null for the owner's own. */
function skillOf(
  { path, sha256, blob, kind }: Difference,
  shipped: ReadonlyMap<string, string>,
  state: EngineState | null,
): string | null {
  const last = state?.applied_skills.findLast(({ file_hashes }) => path in file_hashes);
  if (last !== undefined) return last.file_hashes[path] === sha256 ? last.name : null;
  const known = shipped.get(`${blob} ${path}`);
  if (known !== undefined) return known;
  // A skill that was merged from a branch of NanoClaw's leaves its files, and no record.
  const isFile = kind === 'added' && /^(src|container)\//.test(path);
  const name = path.split('/').at(-1) ?? '';
  return isFile && HERE.some(({ names }) => names.test(name))
    ? name.replace(/(\.test)?\.\w+$/, '')
    : null;
}

function ofSkill(
  root: string,
  name: string,
  paths: readonly string[],
): SourceCode['notes'][number] {
  const files = someOf(paths);
  const what = name.replace(/^add-/, '');
  const known = knownHere(name);
  if (known?.skill != null) {
    return { what, text: `here as a skill: npx claw apply ${known.skill} (${files})` };
  }
  if (known !== undefined) return { what, text: `part of this platform (${files})` };
  const folder = join(root, '.claude/skills', name);
  return isFile(join(folder, 'manifest.yaml'))
    ? { what, text: `a skill of NanoClaw's: npx claw apply ${folder} (${files})` }
    : { what, text: `a skill of NanoClaw's that is not here (${files})` };
}

function knownHere(name: string) {
  return HERE.find(({ names }) => names.test(name));
}

function ofPackage(root: string, name: string): SourceCode['notes'][number] {
  const folder = join(root, '.claude/skills', name);
  const what = `.claude/skills/${name}`;
  if (namesIn(folder).includes('manifest.yaml')) {
    return { what, text: `a skill package of yours: npx claw apply ${folder}` };
  }
  const text =
    'instructions for a coding agent that change NanoClaw; write them anew for this code: docs/writing-a-skill.md';
  return { what, text };
}

function ofOwner(
  root: string,
  git: Git,
  base: string,
  { path, kind }: Difference,
): SourceCode['notes'][number] {
  if (kind === 'deleted') return { what: path, text: 'deleted by you; nothing to do' };
  const place = PLACES.find(([paths]) => paths.test(path))?.[1] ?? ELSEWHERE;
  const packages = path === 'package.json' ? addedPackages(root, git, base) : '';
  return { what: path, text: `yours, ${kind}${packages}. Place: ${place}` };
}

/** Lists the npm packages that the owner has added. */
function addedPackages(root: string, git: Git, base: string): string {
  const dependenciesIn = (text: string | null) =>
    Dependencies.safeParse(jsonWithin(text ?? '{}', MESSENGER_BOUNDS)).data?.dependencies;
  const then = dependenciesIn(orNull(() => git('cat-file', 'blob', `${base}:package.json`)));
  const now = dependenciesIn(readSourceText(join(root, 'package.json')));
  if (then === undefined || now === undefined) return ''; // One of the two is no JSON.
  const added = Object.keys(now).filter((name) => !(name in then));
  return added.length === 0 ? '' : ` (adds ${someOf(added)})`;
}

function someOf(names: readonly string[]): string {
  const more = names.length - SHOWN;
  return `${names.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
