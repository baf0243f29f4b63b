/**
 * Counts conflicts on the history of a real codebase: its commits between two releases become skills on
 * the older release, which is then updated to the newer one; beside it, `git merge` and `git rebase` of
 * the same commits.
 *
 *     npx node scripts/upstream-merges.ts <git folder> <older ref> <newer ref> [<git folder> <ref> <ref> …]
 *         [--edits 20]      instead: as many commits, each an edit of the owner's that nobody recorded
 *         [--moves 100]     instead: files that the newer release moved, with an edit each of a real commit, as the
 *                           owner's and as two skills; and as many that it took out, or that the owner took out
 *         [--commits 200]   of each history, from its start, at most
 *         [--seconds 600]   for each history; what is not packed by then is left out, and said
 *         [--json]
 *
 * Works in temporary clones; the folders that are named are only read. A commit that does not apply to
 * what is there already is left out of all three, so that the same work meets the newer release.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { type ClawCounts, packHistory } from './upstream-merges/claw.ts';
import { type EditCounts, measureEdits, type Verdicts } from './upstream-merges/edits.ts';
import {
  cloneAt,
  commitsBetween,
  contextOf,
  type GitCounts,
  mergeAndRebase,
} from './upstream-merges/git.ts';
import { type Beside, type MoveCounts, measureMoves } from './upstream-merges/moves.ts';

type History = { readonly folder: string; readonly from: string; readonly to: string };

type Limits = { readonly commits: number; readonly seconds: number };

type Row = ClawCounts &
  GitCounts & {
    readonly name: string;
    /** Merges apart, which bring nothing of their own. */
    readonly commits: number;
    readonly seconds: number;
  };

type EditRow = EditCounts & { readonly name: string };

type MoveRow = MoveCounts & { readonly name: string };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    edits: { type: 'string', default: '0' },
    moves: { type: 'string', default: '0' },
    commits: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '600' },
    json: { type: 'boolean', default: false },
  },
});
const limits = { commits: Number(values.commits), seconds: Number(values.seconds) };
const isUsable = positionals.length > 0 && positionals.length % 3 === 0;
if (!isUsable || !(limits.commits > 0) || !(limits.seconds > 0)) {
  console.error('usage: upstream-merges.ts <git folder> <older ref> <newer ref> … (see its head)');
  process.exitCode = 2;
} else {
  const rows: (Row | EditRow | MoveRow)[] = [];
  const [edits, moves] = [Number(values.edits), Number(values.moves)];
  for (const history of histories(positionals)) {
    const measured = () => {
      if (moves > 0) return measureOnClone(history, moves, measureMoves);
      return edits > 0 ? measureOnClone(history, edits, measureEdits) : measure(history, limits);
    };
    const row = await measured();
    rows.push(row);
    if (values.json) continue;
    if ('edits' in row) printEdits(row);
    else if ('moved' in row) printMoves(row);
    else print(row);
  }
  if (values.json) console.log(JSON.stringify(rows));
}

function histories(words: readonly string[]): readonly History[] {
  return Array.from({ length: words.length / 3 }, (_, index) => {
    const [folder = '', from = '', to = ''] = words.slice(index * 3);
    return { folder, from, to };
  });
}

async function measure({ folder, from, to }: History, limits: Limits): Promise<Row> {
  const place = mkdtempSync(join(tmpdir(), 'upstream-merges-'));
  const start = performance.now();
  try {
    const root = cloneAt(folder, join(place, 'claw'), from);
    const all = commitsBetween(root, from, to);
    const { applied, ...counts } = await packHistory({
      root,
      to,
      commits: all.slice(0, limits.commits),
      isLate: () => performance.now() - start > limits.seconds * 1000,
    });
    const git = mergeAndRebase(cloneAt(folder, join(place, 'git'), from), applied, to);
    const seconds = Math.round((performance.now() - start) / 1000);
    return { name: nameOf(folder, from, to), commits: all.length, ...counts, ...git, seconds };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

type OnClone<T> = (work: Parameters<typeof measureEdits>[0]) => Promise<T>;

async function measureOnClone<T>(
  { folder, from, to }: History,
  count: number,
  measured: OnClone<T>,
): Promise<T & { readonly name: string }> {
  const place = mkdtempSync(join(tmpdir(), 'upstream-merges-'));
  try {
    const root = cloneAt(folder, join(place, 'claw'), from);
    const counts = await measured({ context: contextOf(root), from, to, count });
    return { name: nameOf(folder, from, to), ...counts };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function nameOf(folder: string, from: string, to: string): string {
  const parts = folder.split('/').filter((part) => !['', 'repo', '.git'].includes(part));
  return `${basename(parts.at(-1) ?? folder)} ${from} → ${to}`;
}

function print(row: Row): void {
  const { asked, retired } = row;
  const refused = Object.entries(row.refused).map(([why, count]) => `${count} ${why}`);
  console.log(`${row.name}: ${row.commits} commits, ${row.seconds} s`);
  console.log(`  packages   ${row.packages} applied; refused: ${refused.join(', ') || 'none'}`);
  console.log(`  claw       ${counted(asked.keeping)} with every skill kept`);
  console.log(`             ${counted(asked.plain)}; ${retired.plain} skills retired unasked`);
  console.log(
    `             ${counted(asked.retiring)}; ${retired.retiring} with --retire-contained`,
  );
  console.log(`  git merge  ${row.merge} conflict files`);
  console.log(`  git rebase ${row.stops} stops, ${row.dropped} commits dropped`);
  if (row.unpicked > 0) console.log(`  git        ${row.unpicked} commits cannot be picked there`);
}

function printEdits({ name, edits, claw, git, apart }: EditRow): void {
  const told = ({ right, asked, other }: Verdicts) =>
    `${right} as committed, ${asked} asked, ${other} other`;
  console.log(`${name}: ${edits} edits`);
  console.log(`  claw       ${told(claw)}`);
  console.log(`  git merge  ${told(git)}`);
  for (const one of apart) console.log(`    ${one}`);
}

function printMoves({ name, moved, gone, deleted, skills, apart }: MoveRow): void {
  console.log(name);
  const rows = { 'moved, edited': moved, 'gone, edited': gone, 'moved, taken out': deleted };
  for (const [what, beside] of Object.entries(rows)) printBeside(what, beside);
  console.log(`  two skills  ${skills.files} files followed, ${skills.wrong} wrong`);
  for (const one of apart) console.log(`    ${one}`);
}

function printBeside(what: string, { claw, git }: Beside): void {
  for (const [who, counts] of Object.entries({ claw, git })) {
    const told = Object.entries(counts).flatMap(([verdict, count]) =>
      count === 0 ? [] : [`${count} ${verdict}`],
    );
    console.log(`  ${what.padEnd(17)} ${who.padEnd(5)} ${told.join(', ') || 'none'}`);
  }
}

function counted({ files, hunks }: { readonly files: number; readonly hunks: number }): string {
  return `${files} conflict files, ${hunks} hunks`;
}
