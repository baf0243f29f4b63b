/**
 * Merges upstream into a fork once more, for every merge of upstream in the fork's history, with git and with claw,
 * and compares both with what the owner committed.
 *
 *     npm run fork-merges -- <git folder of the fork> <ref, or git folder, of upstream>
 *         [--merges 500]    at most, the newest first
 *         [--files]         a line for each file about which one of the two asks and the other does not
 *         [--differences]   what was committed beside claw's text, where only git asks and the texts differ
 *         [--json]          a line of JSON for each merge, and one for all
 *
 * A file counts if both sides changed it, or both added it, since their only merge base. Not counted are files that one
 * side deleted or moved, files that tools write, binary and long ones, and files that were committed with conflict
 * markers. A lost line is one that a side added and whose words are neither in claw's text nor in a conflict. Texts
 * are equal if they differ in white space alone. The exit code is 1 if a line was lost. The folders are only read.
 */
import { parseArgs } from 'node:util';
import { unifiedPatch } from '../packages/merge/src/unified-patch.ts';
import { type ForkFile, type ForkMerge, forkMerges } from './merge-history/fork.ts';

const USAGE = `usage: npm run fork-merges -- <git folder of the fork> <ref, or git folder, of upstream>
  --merges <n>    merge at most so many, the newest first (500)
  --files         list the files about which only git or only claw asks
  --differences   show what was committed beside claw's text, where only git asks
  --json          print JSON, a line for each merge and one for all
  --help          print this text`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    merges: { type: 'string', default: '500' },
    files: { type: 'boolean', default: false },
    differences: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const [fork, upstream] = positionals;
const limit = Number(values.merges);
if (values.help) console.log(USAGE);
else if (fork === undefined || upstream === undefined || positionals.length > 2 || !(limit > 0)) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  try {
    measure(fork, upstream);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

function measure(fork: string, upstream: string): void {
  let total = countsOf([]);
  let [merges, skipped, left] = [0, 0, 0];
  for (const merge of forkMerges(fork, upstream, limit)) {
    merges++;
    left += merge.left;
    if (merge.files === null) skipped++;
    const counts = countsOf(merge.files ?? []);
    total = sum(total, counts);
    if (values.json) {
      const { commit, date } = merge;
      console.log(JSON.stringify({ commit, date, hasOneBase: merge.files !== null, ...counts }));
    } else print(merge, counts);
  }
  if (values.json) console.log(JSON.stringify({ merges, skipped, left, ...total }));
  else {
    console.log(`${merges} merges of upstream, ${skipped} with several merge bases left out`);
    console.log(`all         ${told(total)}`);
    if (left > 0) console.log(`not counted: ${left} files deleted, moved, binary or long`);
    console.log(
      `asked by git alone: ${total.freed}, claw's text as committed in ${total.freedAsCommitted}; by claw alone: ${total.clawAlone}`,
    );
  }
  if (total.lost > 0) process.exitCode = 1;
}

/** What a summary adds up; the names of files and lines in the order in which they are printed. */
type Counts = Readonly<
  Record<
    | 'files'
    | 'gitFiles'
    | 'gitHunks'
    | 'clawFiles'
    | 'clawHunks'
    | 'lost'
    | 'gitAsCommitted'
    | 'clawAsCommitted'
    | 'freed'
    | 'freedAsCommitted'
    | 'clawAlone',
    number
  >
>;

function countsOf(files: readonly ForkFile[]): Counts {
  const count = (is: (file: ForkFile) => boolean) => files.filter(is).length;
  const add = (of: (file: ForkFile) => number) => files.reduce((all, file) => all + of(file), 0);
  return {
    files: files.length,
    gitFiles: count(({ git }) => git.hunks > 0),
    gitHunks: add(({ git }) => git.hunks),
    clawFiles: count(({ claw }) => claw.hunks > 0),
    clawHunks: add(({ claw }) => claw.hunks),
    lost: add(({ lost }) => lost.length),
    gitAsCommitted: count(({ git }) => git.isCommitted),
    clawAsCommitted: count(({ claw }) => claw.isCommitted),
    freed: count(isFreed),
    freedAsCommitted: count((file) => isFreed(file) && file.claw.isCommitted),
    clawAlone: count(({ git, claw }) => git.hunks === 0 && claw.hunks > 0),
  };
}

function isFreed({ git, claw }: ForkFile): boolean {
  return git.hunks > 0 && claw.hunks === 0;
}

function sum(one: Counts, other: Counts): Counts {
  const names = Object.keys(one) as (keyof Counts)[];
  return Object.fromEntries(names.map((name) => [name, one[name] + other[name]])) as Counts;
}

function told(counts: Counts): string {
  const { files, gitFiles, gitHunks, clawFiles, clawHunks, lost } = counts;
  return (
    `${files} files changed by both; git asks ${gitFiles}/${gitHunks}, claw asks ${clawFiles}/${clawHunks} (files/hunks); ` +
    `lost lines ${lost}; as committed: git ${counts.gitAsCommitted}, claw ${counts.clawAsCommitted}`
  );
}

function print({ commit, date, files }: ForkMerge, counts: Counts): void {
  const name = commit.slice(0, 10);
  const compared = counts.files === 0 ? 'no file changed by both' : told(counts);
  console.log(`${name}  ${date}  ${files === null ? 'several merge bases' : compared}`);
  for (const file of files ?? []) {
    const { path, git, claw, lost } = file;
    for (const { side, line } of lost) console.log(`    lost from ${side}, ${path}: ${line}`);
    if (values.files && isFreed(file)) {
      console.log(`    git alone   ${path}${claw.isCommitted ? '' : ' (differs from committed)'}`);
    }
    if (values.files && git.hunks === 0 && claw.hunks > 0) console.log(`    claw alone  ${path}`);
    if (values.differences && isFreed(file) && !claw.isCommitted) console.log(differenceOf(file));
  }
}

function differenceOf({ path, text, committed }: ForkFile): string {
  const fileOf = (side: string) => ({ bytes: Buffer.from(side), isExecutable: false });
  const [before, after] = [fileOf(text ?? ''), fileOf(committed)];
  const { patch } = unifiedPatch({ path, before, after, movedFrom: null });
  return patch;
}
