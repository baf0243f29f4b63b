import { expect, test } from 'vitest';
import { intentNotes } from '../../operation/intent-notes.ts';
import type { SkillPackage } from '../package.ts';
import { type SetUp, skillPage } from '../skill-page.ts';
import { descriptionOf, intentNote, unwrittenIn, writtenPart } from '../templates.ts';

const NOTE = intentNote('src/a.ts', [[3, 5]]);

function file(text: string) {
  return { bytes: Buffer.from(text), isExecutable: false };
}

/** Returns a package as far as its notes go. */
function packageOf(note: string, description: string): SkillPackage {
  return {
    manifest: { skill: 'dice', version: '1.0.0', description, modifies: ['src/a.ts'] },
    files: new Map([['modify/src/a.ts.intent.md', file(note)]]),
  } as unknown as SkillPackage;
}

function shown(note: string, description: string): string | null {
  const conflict = { path: 'src/a.ts', layers: ['core', 'dice'] } as const;
  return intentNotes(conflict, [packageOf(note, description)]);
}

const NOTHING: SetUp = {
  settings: [],
  commands: [],
  restart: null,
  services: [],
  npmPackages: {},
  imagePackages: [],
};

test('what a package was begun with is named, section by section', () => {
  const written = NOTE.replace(/Changes .*/, 'Rolls dice at /dice.');
  const files = new Map([
    ['modify/src/a.ts.intent.md', file(written)],
    ['SKILL.md', file(skillPage('dice', descriptionOf('dice'), NOTHING))],
    ['add/src/b.ts', file(NOTE)],
  ]);
  expect(unwrittenIn(files)).toEqual([
    { path: 'modify/src/a.ts.intent.md', sections: ['Key sections', 'Invariants', 'Must keep'] },
    { path: 'SKILL.md', sections: ['description'] },
  ]);
  const done = new Map([['SKILL.md', file(skillPage('dice', 'Rolls dice', NOTHING))]]);
  expect(unwrittenIn(done)).toEqual([]);
});

test('only what the author wrote is shown of a note', () => {
  expect(writtenPart(NOTE)).toBe('');
  const kept = NOTE.replace(/What a merge must not.*/, 'The call of `roll`.');
  expect(writtenPart(kept)).toBe('## Must keep\nThe call of `roll`.\n');
  const own = '# What\n\nRolls dice.\n\nMore.\n';
  expect(writtenPart(own)).toBe(own);
});

test('a conflict shows no words of the template, of a note or of a description', () => {
  expect(shown(NOTE, descriptionOf('dice'))).toBeNull();
  expect(shown(NOTE, 'Rolls dice')).toBe('# dice 1.0.0\n\nRolls dice\n');
  const written = NOTE.replace(/Changes .*/, 'Rolls dice at /dice.');
  expect(shown(written, descriptionOf('dice'))).toBe(
    '# dice 1.0.0\n\n## What\nRolls dice at /dice.\n',
  );
});
