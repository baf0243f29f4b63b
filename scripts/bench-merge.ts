/**
 * Merges the files of real merges once more, beside `git merge` in the same run, and compares both with what
 * was committed.
 *
 *     npm run bench:merge -- <git folder> [<git folder> …]
 *         [--merges 400]    of each repository that have a file changed on both sides, spread over its history
 *         [--examples 10]   of newly clean files that differ from what was committed
 *         [--json]          one row a file that is not the same for both
 *
 * Git's verdict is `git merge-tree` (ort, histogram) of the whole commit; its time is `git merge-file
 * --zdiff3` of the file, process start included, from a small process. Newly clean files are parsed once more, and in TypeScript and
 * JavaScript names are counted that are declared twice or not at all, though not so in a side. Moved blocks are those
 * that one side moved and the other edited, where the edit at the new place is one of the choices. The folders are
 * only read.
 */
import { parseArgs } from 'node:util';
import { unifiedPatch } from '../packages/merge/src/unified-patch.ts';
import { type Measured, measureAll, timeParserLoad } from './merge-history/measure.ts';
import { realMerges } from './merge-history/merges.ts';

const MAX_EXAMPLE_LINES = 40;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    merges: { type: 'string', default: '400' },
    examples: { type: 'string', default: '10' },
    json: { type: 'boolean', default: false },
  },
});
const [limit, wanted] = [Number(values.merges), Number(values.examples)];
if (positionals.length === 0 || !(limit > 0) || !(wanted >= 0)) {
  console.error(
    'usage: npm run bench:merge -- <git folder> … (see the head of scripts/bench-merge.ts)',
  );
  process.exitCode = 2;
} else {
  const all: Measured[] = [];
  const loadMs = timeParserLoad();
  if (!values.json) console.log(`the parser loads in ${loadMs.toFixed(0)} ms, once a process`);
  for (const folder of positionals) {
    const found = measureAll(realMerges(folder, limit));
    if (!values.json) printTable(found[0]?.merge.repository ?? folder, found);
    all.push(...found);
  }
  if (values.json) for (const one of all.filter(({ own, git }) => own !== git)) printRow(one);
  else {
    if (positionals.length > 1) printTable('all', all);
    printRules(all);
    for (const one of all.filter(isDoubtful).slice(0, wanted)) printExample(one);
  }
}

function printTable(name: string, all: readonly Measured[]): void {
  const count = (is: (one: Measured) => boolean) => all.filter(is).length;
  const [own, git] = [
    count((one) => one.own === 'conflict'),
    count((one) => one.git === 'conflict'),
  ];
  const fresh = all.filter((one) => one.git === 'conflict' && one.own !== 'conflict');
  const equal = fresh.filter((one) => one.own === 'equal').length;
  const asked = all.filter((one) => one.git !== 'conflict' && one.own === 'conflict');
  const times = (of: (one: Measured) => number) => {
    const sorted = all.map(of).toSorted((one, other) => one - other);
    const at = (share: number) =>
      sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
    return `p50 ${at(0.5)?.toFixed(1)}, p99 ${at(0.99)?.toFixed(1)}, worst ${sorted.at(-1)?.toFixed(0)} ms`;
  };
  console.log(`${name}: ${all.length} files`);
  console.log(`  conflict files   ${own}, git ${git} (${(own / git).toFixed(2)} x)`);
  console.log(`  newly clean      ${fresh.length}, ${equal} of them equal to what was committed`);
  console.log(`  that do not parse ${count(({ isBroken }) => isBroken)}`);
  const unnamed = all.filter(({ nameErrors }) => nameErrors.length > 0);
  console.log(`  names undeclared or twice ${unnamed.length}`);
  for (const { merge, nameErrors } of unnamed) {
    console.log(`    ${merge.commit.slice(0, 10)} ${merge.path}: ${nameErrors.join(' ')}`);
  }
  console.log(
    `  newly asked      ${asked.length}, where git is equal ${asked.filter((one) => one.git === 'equal').length}`,
  );
  console.log(
    `  different        ${count((one) => one.own === 'different')}, git ${count((one) => one.git === 'different')}` +
      `; where git is equal ${count((one) => one.own === 'different' && one.git === 'equal')}`,
  );
  const offers = all.map(({ moved }) => moved);
  const sum = (of: 'offered' | 'committed') => offers.reduce((total, one) => total + one[of], 0);
  console.log(`  moved blocks     ${sum('offered')} offered, ${sum('committed')} as committed`);
  console.log(`  time             ${times((one) => one.ownMs)}`);
  console.log(`  git merge-file   ${times((one) => one.gitMs)}`);
}

function printRules(all: readonly Measured[]): void {
  const rules = new Set(all.flatMap((one) => one.rules));
  console.log('rules: conflicts, in files newly clean, of which equal to what was committed');
  for (const rule of [...rules].toSorted()) {
    const count = all.flatMap((one) => one.rules).filter((one) => one === rule).length;
    const fresh = all.filter((one) => one.own !== 'conflict' && one.rules.includes(rule));
    const equal = fresh.filter((one) => one.own === 'equal').length;
    console.log(`  ${rule.padEnd(24)} ${count}, ${fresh.length}, ${equal}`);
  }
}

function isDoubtful({ own, git }: Measured): boolean {
  return own === 'different' && git !== 'different';
}

function printExample({ merge, text, rules }: Measured): void {
  const fileOf = (side: string) => ({ bytes: Buffer.from(side), isExecutable: false });
  const { patch } = unifiedPatch({
    path: merge.path,
    before: fileOf(text),
    after: fileOf(merge.committed),
    movedFrom: null,
  });
  const lines = patch.split('\n');
  console.log(
    `\n${merge.repository} ${merge.commit.slice(0, 10)} ${merge.path} (${rules.join(', ')})`,
  );
  console.log(lines.slice(2, MAX_EXAMPLE_LINES).join('\n'));
  if (lines.length > MAX_EXAMPLE_LINES)
    console.log(`… ${lines.length - MAX_EXAMPLE_LINES} more lines`);
}

function printRow({ merge, own, git, ownMs, gitMs, rules }: Measured): void {
  const { repository, commit, path } = merge;
  console.log(JSON.stringify({ repository, commit, path, own, git, ownMs, gitMs, rules }));
}
