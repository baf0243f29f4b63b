import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conflictFile } from '../../packages/claw/src/conflict.ts';
import {
  apply,
  type EngineContext,
  init,
  pack,
  remove,
  replay,
  undo,
  update,
} from '../../packages/claw/src/index.ts';
import { PLAIN_UPDATE } from '../../packages/claw/src/operation/update-options.ts';
import { planUpdate } from '../../packages/claw/src/verbs/update/update.ts';
import { git, linesOf, must } from './git.ts';

/**
 * What became of the edits of a file that the release moved: followed to the committed text, asked about at the new
 * place, asked about at the old one with the new one `named` or not; `other`: followed to another text; `astray`:
 * followed to another file; `lost`: neither there nor asked about.
 */
const VERDICTS = ['right', 'there', 'named', 'asked', 'other', 'astray', 'lost'] as const;
type Verdict = (typeof VERDICTS)[number];

/** Counts by verdict, beside git on the same edits. */
type Counts = Readonly<Record<Verdict, number>>;
export type Beside = { readonly claw: Counts; readonly git: Counts };

export type MoveCounts = {
  /** Edits of files that a commit of the release moved. */
  readonly moved: Beside;
  /** Edits of files that it took out, as far as its commits tell. */
  readonly gone: Beside;
  /** Deletions of files that it moved; `right`: the file is not there, `lost`: it came back without a word. */
  readonly deleted: Beside;
  /** Files in two skills: updated, one skill removed, undone, replayed; and those that came to another text then. */
  readonly skills: { readonly files: number; readonly wrong: number };
  /** Edits that are to be read: what is neither as committed nor asked about, and what git alone does. */
  readonly apart: readonly string[];
};

type Work = {
  readonly context: EngineContext;
  readonly from: string;
  readonly to: string;
  /** Files that moved or are gone, at most so many of each. */
  readonly count: number;
};

/** A file of the older release that the newer one does not have there. */
type Gone = { readonly from: string; readonly to: string | null };

/** An edit of such a file: its text with it, and the text that an update has to come to. */
type Edit = Gone & { readonly text: string | null; readonly right: string };

type Kind = 'released' | 'later';

/**
 * Makes real commits edits of files that the newer release moved. Where a file went is told by its commits, one by
 * one. An edit is of a commit of the newer release, whose text is then the right one, or of one that came later.
 *
 * @param context of a clone on the older release
 */
export async function measureMoves({ context, from, to, count }: Work): Promise<MoveCounts> {
  const { root } = context;
  writeFileSync(join(root, 'claw.config.yaml'), "test: 'true'\n");
  await init(context, { release: 'HEAD', coreVersion: null });
  const gone = goneFiles(root, from, to);
  const moved = spread(
    gone.filter((one) => one.to !== null),
    count,
  );
  const end = must(git(root, ['rev-parse', 'origin/HEAD'])).trim();
  const released = commitsByPath(root, `${from}..${to}`);
  const later = commitsByPath(root, `${to}..${end}`);
  const editsOf = (files: readonly Gone[], kind: Kind) =>
    files.flatMap(
      (one) =>
        firstEdit(root, one, { from, to, kind, commits: kind === 'later' ? later : released }) ??
        [],
    );
  const edits = { released: editsOf(moved, 'released'), later: editsOf(moved, 'later') };
  const trial = { context, from, to };
  const both = [await tried(trial, edits.released), await tried(trial, edits.later)];
  const out = spread(
    gone.filter((one) => one.to === null),
    count,
  );
  const took = await tried(trial, editsOf(out, 'released'));
  const deletions = moved.map((one): Edit => ({ ...one, text: null, right: '' }));
  const deleted = await tried(trial, deletions);
  const isRight = new Set(
    both
      .flat()
      .filter(({ claw }) => claw === 'right')
      .map(({ edit }) => edit),
  );
  const skills = await triedAsSkills(trial, {
    first: edits.released.filter((edit) => isRight.has(edit)),
    second: edits.later.filter((edit) => isRight.has(edit)),
  });
  const all = [...both.flat(), ...took, ...deleted];
  return {
    moved: beside(both.flat()),
    gone: beside(took),
    deleted: beside(deleted),
    skills,
    apart: all
      .filter(isToRead)
      .map(
        ({ edit, claw, git: byGit, at }) =>
          `${edit.from} → ${edit.to}: claw ${claw} ${at ?? ''}, git ${byGit}`,
      ),
  };
}

/** Finds the files that the newer release does not have, and where the commits in between moved them. */
function goneFiles(root: string, from: string, to: string): readonly Gone[] {
  const after = filesOf(root, to);
  const log = ['log', '--topo-order', '--reverse', '--no-merges', '-M50%', '--diff-filter=R'];
  const renames = linesOf(
    must(git(root, [...log, '--name-status', '--format=', `${from}..${to}`])),
  ).map((line) => line.split('\t'));
  return [...filesOf(root, from)].flatMap((path): readonly Gone[] => {
    if (after.has(path)) return [];
    const now = renames.reduce((at, [, old, renamed = at]) => (at === old ? renamed : at), path);
    return [{ from: path, to: after.has(now) ? now : null }];
  });
}

function filesOf(root: string, ref: string): ReadonlySet<string> {
  const listed = linesOf(must(git(root, ['ls-tree', '-r', ref])));
  return new Set(
    listed.flatMap((line) => (line.startsWith('100') ? [line.split('\t')[1] ?? ''] : [])),
  );
}

function commitsByPath(root: string, range: string): ReadonlyMap<string, readonly string[]> {
  const log = [
    'log',
    '--reverse',
    '--no-merges',
    '--no-renames',
    '--name-only',
    '--format=%x00%H',
    range,
  ];
  const commits = new Map<string, string[]>();
  let commit = '';
  for (const line of linesOf(must(git(root, log)))) {
    if (line.startsWith('\0')) commit = line.slice(1);
    else commits.set(line, [...(commits.get(line) ?? []), commit]);
  }
  return commits;
}

/** Takes evenly out of a list. */
function spread<T>(all: readonly T[], count: number): readonly T[] {
  return all.length <= count
    ? all
    : Array.from({ length: count }, (_, at) => all[Math.floor((at * all.length) / count)] as T);
}

type Source = Pick<Work, 'from' | 'to'> & {
  readonly kind: Kind;
  readonly commits: ReadonlyMap<string, readonly string[]>;
};

const TRIES = 6;

/** Makes the first commit an edit that applies to the old text and, where it came later, to the new one; null for none. */
function firstEdit(root: string, gone: Gone, { from, to, kind, commits }: Source): Edit | null {
  const path = kind === 'later' ? gone.to : gone.from;
  const old = textAt(root, from, gone.from);
  const now = gone.to === null ? '' : textAt(root, to, gone.to);
  if (path === null || old === null || now === null || /\0/.test(old + now)) return null;
  for (const commit of commits.get(path)?.slice(0, TRIES) ?? []) {
    const change = [textAt(root, `${commit}^`, path), textAt(root, commit, path)] as const;
    const [before, after] = change;
    if (before === null || after === null) continue;
    const text = merged(old, before, after);
    const right: string | null = kind === 'later' ? merged(now, before, after) : now;
    const isChange = text !== null && text !== old && !(kind === 'later' && right === now);
    if (isChange && right !== null) return { ...gone, text, right };
  }
  return null;
}

function textAt(root: string, ref: string, path: string): string | null {
  const run = git(root, ['cat-file', 'blob', `${ref}:${path}`]);
  return run.status === 0 ? run.stdout : null;
}

/** Merges with `git merge-file`; null for a conflict. */
function merged(ours: string, base: string, theirs: string): string | null {
  const place = mkdtempSync(join(tmpdir(), 'upstream-moves-'));
  try {
    const files = [ours, base, theirs].map((text, at) => {
      const path = join(place, String(at));
      writeFileSync(path, text, 'latin1');
      return path;
    });
    const run = git(place, ['merge-file', '-p', ...files]);
    return run.status === 0 ? run.stdout : null;
  } finally {
    rmSync(place, { recursive: true });
  }
}

type Trial = Pick<Work, 'context' | 'from' | 'to'>;

type Tried = {
  readonly edit: Edit;
  readonly claw: Verdict;
  readonly git: Verdict;
  /** The file that claw followed it to. */
  readonly at: string | null;
};

/** What came of an update or a merge. */
type Outcome = {
  readonly isAsked: (path: string) => boolean;
  readonly isNamed: (edit: Edit) => boolean;
  readonly file: (path: string) => string | null;
  /** The other file to which a file was followed; null for none that is known. */
  readonly followed: (path: string) => string | null;
};

async function tried(trial: Trial, edits: readonly Edit[]): Promise<readonly Tried[]> {
  if (edits.length === 0) return [];
  const {
    context: { root },
    to,
  } = trial;
  const [byClaw, byGit] = [await planned(trial, edits), mergedByGit(trial, edits)];
  const releaseFile = (path: string) => textAt(root, to, path);
  return edits.map((edit) => ({
    edit,
    claw: verdictOf(edit, byClaw, releaseFile),
    git: verdictOf(edit, byGit, releaseFile),
    at: byClaw.followed(edit.from),
  }));
}

async function planned({ context, to }: Trial, edits: readonly Edit[]): Promise<Outcome> {
  const { root } = context;
  for (const { from, text } of edits) {
    if (text === null) rmSync(join(root, from));
    else writeFileSync(join(root, from), text, 'latin1');
  }
  try {
    const { plan, core, warnings } = await planUpdate(context, to, PLAIN_UPDATE);
    const moves = new Map((core?.state.moves ?? []).flatMap(({ paths }) => Object.entries(paths)));
    const after = new Map(plan.changes.map((one) => [one.path, one.after]));
    const asked = new Map(plan.conflicts.map((one) => [conflictFile(one), one]));
    return {
      isAsked: (path) => asked.has(path),
      isNamed: ({ from, to: place, text }) =>
        text === null
          ? warnings.some((one) => one.startsWith(`${from} is deleted here`))
          : asked.get(from)?.candidates?.includes(place ?? '') === true,
      file: (path) => after.get(path)?.bytes.toString('latin1') ?? null,
      followed: (path) => moves.get(path) ?? null,
    };
  } finally {
    must(git(root, ['checkout', '--quiet', '--', ...edits.map(({ from }) => from)]));
  }
}

function mergedByGit({ context: { root }, from, to }: Trial, edits: readonly Edit[]): Outcome {
  const run = git(root, ['merge-tree', '--write-tree', commitOf(root, from, edits), to]);
  const [tree = '', ...rest] = run.stdout.split('\n');
  const asked = new Set(
    rest.slice(0, rest.indexOf('')).flatMap((line) => line.split('\t')[1] ?? []),
  );
  const file = (path: string) => textAt(root, tree, path);
  const pairs = linesOf(
    must(git(root, ['diff', '-M50%', '--diff-filter=R', '--name-status', from, to])),
  );
  const renames = new Map(pairs.map((line) => line.split('\t').slice(1) as [string, string]));
  return {
    isAsked: (path) => asked.has(path),
    isNamed: () => false,
    file,
    followed: (path) => {
      const there = renames.get(path);
      const isMet =
        there !== undefined && (asked.has(there) || file(there) !== textAt(root, to, there));
      return isMet ? there : null;
    },
  };
}

/** Makes a commit of edits on a release. */
function commitOf(root: string, release: string, edits: readonly Edit[]): string {
  const environment = { GIT_INDEX_FILE: join(root, '.git', 'moves-index') };
  must(git(root, ['read-tree', release], { environment }));
  const listed = edits.map(({ from, text }) => {
    if (text === null) return `0 ${'0'.repeat(40)}\t${from}\n`;
    const mode = must(git(root, ['ls-tree', release, '--', from])).slice(0, 6);
    const id = must(git(root, ['hash-object', '-w', '--stdin'], { input: text })).trim();
    return `${mode} ${id}\t${from}\n`;
  });
  must(git(root, ['update-index', '--index-info'], { environment, input: listed.join('') }));
  const tree = must(git(root, ['write-tree'], { environment })).trim();
  return must(git(root, ['commit-tree', '-p', `${release}^{commit}`, '-m', 'edit', tree])).trim();
}

function verdictOf(
  edit: Edit,
  outcome: Outcome,
  releaseFile: (path: string) => string | null,
): Verdict {
  const { from, to, text, right } = edit;
  const { isAsked, isNamed, file, followed } = outcome;
  const at = followed(from);
  if (at !== null && at !== to) return 'astray';
  if (isAsked(from)) return isNamed(edit) ? 'named' : 'asked';
  if (to === null) return 'lost';
  if (isAsked(to)) return 'there';
  if (text === null) {
    if (file(to) === null) return 'right';
    return isNamed(edit) ? 'named' : 'lost';
  }
  if (file(to) === right) return 'right';
  return file(to) === releaseFile(to) ? 'lost' : 'other';
}

type Skills = { readonly first: readonly Edit[]; readonly second: readonly Edit[] };

/** Makes edits two skills, updates, removes the second, takes both back, and compares with the texts that are due. */
async function triedAsSkills(trial: Trial, { first, second }: Skills) {
  const { from, to } = trial;
  const { root } = trial.context;
  const allow = linesOf(must(git(root, ['diff', '--name-only', '--no-renames', from, to])));
  const context = { ...trial.context, allow };
  // What both skills change alike is not a question for the second.
  const own = second.filter((edit) => {
    const one = first.find((other) => other.from === edit.from);
    return (
      one === undefined ||
      merged(one.text ?? '', textAt(root, from, edit.from) ?? '', edit.text ?? '') !== null
    );
  });
  for (const [name, edits] of Object.entries({ first, second: own })) {
    if (edits.length === 0) return { files: 0, wrong: 0 };
    const range = `HEAD..${commitOf(root, from, edits)}`;
    await pack(context, name, { range, description: name });
    await apply(context, [name]);
  }
  const due = new Map([...first, ...own].map((edit) => [edit.to ?? '', edit.right]));
  const without = new Map(
    [...first, ...own].map(({ to: path }) => [path ?? '', textAt(root, to, path ?? '')]),
  );
  const wrong = new Set<string>();
  const compare = (texts: ReadonlyMap<string, string | null>) => {
    for (const [path, text] of texts)
      if (readFileSync(join(root, path), 'latin1') !== text) wrong.add(path);
  };
  const updated = await update(context, to, { keep: ['first', 'second'] });
  if (updated.outcome !== 'done') return { files: due.size, wrong: due.size };
  compare(due);
  await remove(context, ['second']);
  compare(without);
  await undo(context);
  compare(due);
  const again = await replay(context);
  if (again.outcome !== 'nothing') return { files: due.size, wrong: due.size };
  return { files: due.size, wrong: wrong.size };
}

function beside(all: readonly Tried[]): Beside {
  return { claw: counted(all.map(({ claw }) => claw)), git: counted(all.map((one) => one.git)) };
}

function counted(verdicts: readonly Verdict[]): Counts {
  const count = (one: Verdict) => verdicts.filter((verdict) => verdict === one).length;
  return Object.fromEntries(VERDICTS.map((one) => [one, count(one)])) as Counts;
}

function isToRead({ claw }: Tried): boolean {
  return claw === 'other' || claw === 'astray' || claw === 'lost';
}
