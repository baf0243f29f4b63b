import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { satisfies, validRange } from 'semver';
import { z } from 'zod';
import { type Examination, type Finding, ok, problem } from './examination.ts';

const AREA = 'packages';
const ADVICE = 'Run `npm install`.';

const Manifest = z.object({ dependencies: z.record(z.string(), z.string()).default({}) });
const Installed = z.object({ version: z.string() });

/** Tells whether the packages that `package.json` names are in `node_modules`. */
export const examination: Examination = {
  area: AREA,
  order: 12,
  async examine({ projectDir }) {
    const manifest = readJson(join(projectDir, 'package.json'));
    if (manifest === null) return [];
    const { dependencies } = Manifest.parse(manifest);
    const problems = Object.entries(dependencies).flatMap(([name, range]) =>
      problemOf(name, range, projectDir),
    );
    const count = Object.keys(dependencies).length;
    return problems.length > 0 ? problems : [ok(AREA, `${count} of package.json are installed`)];
  },
};

function problemOf(name: string, range: string, projectDir: string): readonly Finding[] {
  const found = readJson(join(projectDir, 'node_modules', name, 'package.json'));
  const installed = Installed.safeParse(found).data;
  if (installed === undefined) {
    return [problem(AREA, `package.json needs ${name}, which is not installed.`, ADVICE)];
  }
  const { version } = installed;
  // A folder or an address in place of a range says nothing about versions.
  if (validRange(range) === null || satisfies(version, range)) return [];
  return [problem(AREA, `package.json needs ${name} ${range}; installed is ${version}.`, ADVICE)];
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null; // Not there, or not to be read: no such package.
  }
}
