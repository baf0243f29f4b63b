import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packedPlace, readPackageFiles } from '../../../packages/claw/src/installed/claw-folder.ts';
import { checkContract } from '../contract.ts';
import { CLAW, type Printed, runClaw } from './claw.ts';

export { CLAW };

/** Content of a file; an executable one as an object. */
export type Content = string | Buffer | { readonly text: string; readonly mode: number };
export type Files = Readonly<Record<string, Content>>;

/** Somebody who commits, and no look after each commit whether the repository needs tidying: a process of its own. */
const GIT_SETTINGS = [
  'user.name=Test',
  'user.email=test@example.org',
  'maintenance.auto=false',
].flatMap((setting) => ['-c', setting]);

/** A run of `claw --json`, with the parsed result. */
export type ClawRun = Printed & {
  // The tests look into it by the contract's field names.
  readonly json: {
    readonly ok: boolean;
    readonly outcome: string;
    readonly data: unknown;
    readonly changes: readonly { path: string; kind: string; cause: string }[];
    readonly conflicts: readonly {
      path: string;
      kind: string;
      layers: readonly string[];
      hunks: readonly { base: string; ours: string; theirs: string }[];
    }[];
    readonly warnings: readonly string[];
    readonly error: { code: string; message: string; path: string | null } | null;
  };
};

/** A codebase in a folder of its own, on which tests run the real command line. */
export type Codebase = AsyncDisposable & {
  readonly root: string;
  readonly path: (path: string) => string;
  readonly write: (files: Files) => void;
  readonly read: (path: string) => string;
  readonly has: (path: string) => boolean;
  readonly remove: (path: string) => void;
  /** Every file outside `.git`, `.claw` and `node_modules`, with its mode. */
  readonly tree: () => Readonly<Record<string, string>>;
  /** Every file below `.claw` that is committed. */
  readonly state: () => Readonly<Record<string, string>>;
  readonly git: (...args: string[]) => string;
  readonly claw: (...args: string[]) => Promise<ClawRun>;
};

/** Makes a codebase; with `git`, as a repository whose first commit is tagged v1.0.0. */
export function temporaryCodebase(files: Files, options: { git?: boolean } = {}): Codebase {
  const root = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'claw-codebase-')));
  const codebase = openCodebase(root);
  codebase.write(files);
  if (options.git) {
    codebase.git('init', '--quiet', '--initial-branch=main');
    commitAll(codebase, 'first');
    codebase.git('tag', 'v1.0.0');
  }
  return codebase;
}

/** Commits everything in the work tree. */
export function commitAll(codebase: Codebase, message: string): void {
  codebase.git('add', '--all');
  codebase.git('commit', '--quiet', '--allow-empty', '-m', message);
}

/** Returns a folder as a codebase. */
export function openCodebase(root: string): Codebase {
  const path = (below: string) => join(root, below);
  return {
    root,
    path,
    write: (files) => {
      for (const [name, content] of Object.entries(files)) writeOne(path(name), content);
    },
    read: (name) => fs.readFileSync(path(name), 'utf8'),
    has: (name) => fs.existsSync(path(name)),
    remove: (name) => fs.rmSync(path(name), { recursive: true }),
    tree: () => snapshot(root, (name) => !/^(\.git|\.claw|node_modules)$/.test(name)),
    state: () =>
      snapshot(path('.claw'), (name) => !/^(pending|backup|tx|cache|lock\.db.*)$/.test(name)),
    git: (...args) =>
      execFileSync('git', [...GIT_SETTINGS, ...args], { cwd: root, encoding: 'utf8' }),
    claw: (...args) => runJson(root, args),
    [Symbol.asyncDispose]: async () => fs.rmSync(root, { recursive: true, force: true }),
  };
}

/** Returns the manifest and files of a small package, by their paths in it. */
export function skillFiles(
  skill: string,
  parts: {
    readonly version?: string;
    readonly core?: string;
    readonly add?: Files;
    readonly modify?: Readonly<Record<string, readonly [base: Content, modified: Content]>>;
    readonly base?: Files;
    readonly manifest?: Readonly<Record<string, unknown>>;
    readonly tests?: Files;
  },
): Files {
  const files: Record<string, Content> = {};
  for (const [path, content] of Object.entries(parts.add ?? {})) files[`add/${path}`] = content;
  for (const [path, [base, modified]] of Object.entries(parts.modify ?? {})) {
    files[`base/${path}`] = base;
    files[`modify/${path}`] = modified;
  }
  for (const [path, content] of Object.entries(parts.base ?? {})) files[`base/${path}`] = content;
  for (const [path, content] of Object.entries(parts.tests ?? {})) files[`tests/${path}`] = content;
  const manifest = {
    skill,
    version: parts.version ?? '1.0.0',
    description: `The skill ${skill}`,
    core_version: parts.core ?? '1.0.0',
    adds: Object.keys(parts.add ?? {}),
    modifies: Object.keys(parts.modify ?? {}),
    ...(parts.tests ? { test: Object.keys(parts.tests).map((path) => `tests/${path}`) } : {}),
    ...parts.manifest,
  };
  // JSON is YAML, so the manifest needs no writer of its own.
  files['manifest.yaml'] = `${JSON.stringify(manifest, null, 2)}\n`;
  files['SKILL.md'] = `---\nname: ${skill}\ndescription: for tests\n---\n`;
  return files;
}

/** Puts a package under `skills/` of a codebase, replacing an earlier one. */
export function addSkill(
  codebase: Codebase,
  skill: string,
  parts: Parameters<typeof skillFiles>[1],
): void {
  fs.rmSync(codebase.path(`skills/${skill}`), { recursive: true, force: true });
  const files = Object.entries(skillFiles(skill, parts));
  codebase.write(
    Object.fromEntries(files.map(([path, content]) => [`skills/${skill}/${path}`, content])),
  );
}

/** Returns the texts of the package that is kept of an applied skill, by their paths in it. */
export function keptPackage(codebase: Codebase, skill: string): Readonly<Record<string, string>> {
  const files = readPackageFiles(codebase.root, packedPlace(skill));
  return Object.fromEntries([...files].map(([path, { bytes }]) => [path, bytes.toString('utf8')]));
}

/** Keeps an applied skill's package as a folder, as earlier engines did. */
export function keepAsFolder(codebase: Codebase, skill: string): void {
  const files = Object.entries(keptPackage(codebase, skill));
  codebase.write(
    Object.fromEntries(files.map(([path, text]) => [`.claw/packages/${skill}/${path}`, text])),
  );
  codebase.remove(packedPlace(skill));
}

function writeOne(path: string, content: Content): void {
  fs.mkdirSync(dirname(path), { recursive: true });
  const isPlain = typeof content === 'string' || Buffer.isBuffer(content);
  fs.writeFileSync(path, isPlain ? content : content.text);
  if (!isPlain) fs.chmodSync(path, content.mode);
}

function snapshot(root: string, isWanted: (name: string) => boolean): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (below: string): void => {
    const folder = join(root, below);
    for (const entry of fs.existsSync(folder)
      ? fs.readdirSync(folder, { withFileTypes: true })
      : []) {
      if (below === '' && !isWanted(entry.name)) continue;
      const path = below + entry.name;
      if (entry.isDirectory()) {
        found[`${path}/`] = 'folder';
        walk(`${path}/`);
      } else {
        if (entry.isSymbolicLink()) {
          found[path] = `-> ${fs.readlinkSync(join(root, path))}`;
          continue;
        }
        const mode = (fs.statSync(join(root, path)).mode & 0o100) === 0 ? '' : ' +x';
        found[path] = fs.readFileSync(join(root, path), 'latin1') + mode;
      }
    }
  };
  walk('');
  return Object.fromEntries(Object.entries(found).sort(([one], [other]) => (one < other ? -1 : 1)));
}

async function runJson(cwd: string, args: readonly string[]): Promise<ClawRun> {
  const run = await runClaw([...args, '--json', '--cwd', cwd]);
  const json = parsed(args, run);
  checkContract(json);
  return { ...run, json };
}

function parsed(args: readonly string[], { stdout, stderr }: Printed): ClawRun['json'] {
  try {
    return JSON.parse(stdout);
  } catch (cause) {
    const printed = `${stdout}\n${stderr}`;
    throw new Error(`claw ${args.join(' ')} printed no JSON:\n${printed}`, { cause });
  }
}
