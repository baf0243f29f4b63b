import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { diff3Merge } from 'node-diff3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mostlyUniqueVersions, repetitiveVersions } from '../../../src/testing/texts.ts';
import { mapVersions } from '../src/lines/lines.ts';
import { mergeText, mergeTexts } from '../src/merge-text.ts';
import type { Versions } from '../src/versions.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'merge-git-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * Returns git's merge of the same texts; null for a conflict. Exit code 255 is an error, not 255 conflicts.
 */
function mergeWithGit(versions: Versions<string>, ...options: readonly string[]): string | null {
  for (const [name, text] of Object.entries(versions)) writeFileSync(join(folder, name), text);
  const args = ['merge-file', '-p', ...options, 'ours', 'base', 'theirs'];
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: folder, encoding: 'utf8' });
  if (status === null || status > 127) throw new Error(`git merge-file failed: ${stderr}`);
  return status === 0 ? stdout : null;
}

function mergeWithNodeDiff3({ base, ours, theirs }: Versions<string>): string | null {
  const cut = (text: string) => text.split('\n');
  const regions = diff3Merge(cut(ours), cut(base), cut(theirs), { excludeFalseConflicts: true });
  if (regions.some(({ conflict }) => conflict !== undefined)) return null;
  return regions.flatMap(({ ok }) => ok ?? []).join('\n');
}

function mergeOurselves(versions: Versions<string>): string | null {
  const merged = mergeTexts(versions);
  return merged.kind === 'clean' ? merged.text : null;
}

/**
 * Expects what git makes of a conflict when it keeps the lines of both sides, but for lines of the base that a side
 * took out. A change that has all of the other side's is not a question here; git may have a line of it twice.
 */
function expectUnion(own: string, versions: Versions<string>): void {
  const union = mergeWithGit(versions, '--union') ?? '';
  const linesOf = (text: string) => new Set(text.split('\n'));
  const [kept, all] = [linesOf(own), linesOf(union)];
  const { base, ours, theirs } = mapVersions(versions, linesOf);
  const lost = [...all].filter((line) => !kept.has(line));
  const isTakenOut = (line: string) => base.has(line) && !(ours.has(line) && theirs.has(line));
  expect([...kept].filter((line) => !all.has(line))).toEqual([]);
  expect(lost.filter((line) => !isTakenOut(line))).toEqual([]);
  expect(own.length).toBeLessThanOrEqual(union.length);
}

describe('beside git merge-file', () => {
  test('the same texts are clean, changes that contain each other apart, and come out the same, where lines are mostly unique', () => {
    let clean = 0;
    let conflicts = 0;
    const law = (versions: Versions<string>) => {
      const git = mergeWithGit(versions);
      const own = mergeOurselves(versions);
      if (git === null) conflicts++;
      else clean++;
      if (git === null && own !== null) expectUnion(own, versions);
      else expect(own).toBe(git);
    };
    fc.assert(fc.property(mostlyUniqueVersions, law), { numRuns: 400 });
    // Else the comparison would have shown nothing.
    expect(Math.min(clean, conflicts)).toBeGreaterThan(40);
  });

  test('a text that is clean for both has the same lines, where most lines recur', () => {
    // Of several equal lines, each diff guesses which were deleted; the guesses may differ now and then.
    let clean = 0;
    let different = 0;
    const compare = (versions: Versions<string>) => {
      const git = mergeWithGit(versions);
      const own = mergeOurselves(versions);
      if (git === null || own === null) return;
      clean++;
      if (git !== own) different++;
    };
    fc.assert(fc.property(repetitiveVersions, compare), { numRuns: 300, seed: 1 });
    expect(clean).toBeGreaterThan(50);
    expect(different / clean).toBeLessThan(0.1);
  });
});

test('beside node-diff3, the same texts are clean, such changes apart, and come out the same', () => {
  const law = (versions: Versions<string>) => {
    const own = mergeOurselves(versions);
    const other = mergeWithNodeDiff3(versions);
    if (other === null && own !== null) expectUnion(own, versions);
    else expect(own).toBe(other);
  };
  fc.assert(fc.property(mostlyUniqueVersions, law), { numRuns: 1000 });
});

test('input that git calls an error is no conflict here, and no exception', () => {
  const versions = { base: 'a\0\n', ours: 'b\0\n', theirs: 'c\0\n' };
  expect(() => mergeWithGit(versions)).toThrow(/failed/);
  expect(mergeText(versions).conflicts).toBe(1);
});
