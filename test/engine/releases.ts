import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Codebase,
  commitAll,
  type Files,
  openCodebase,
  skillFiles,
} from '../../src/testing/claw/codebase.ts';

/** A release's changes to the one before it. */
export type ReleaseChange = {
  readonly files?: Files;
  readonly gone?: readonly string[];
  readonly skills?: Readonly<Record<string, Parameters<typeof skillFiles>[1]>>;
  /** The ref that it is made from; the tag of the first release by default. */
  readonly from?: string;
};

/** The files of packages, by their paths below a project. */
export function packagedSkills(skills: NonNullable<ReleaseChange['skills']>): Files {
  const files = Object.entries(skills).flatMap(([name, parts]) =>
    Object.entries(skillFiles(name, parts)).map(([path, content]) => [
      `skills/${name}/${path}`,
      content,
    ]),
  );
  return Object.fromEntries(files);
}

/** Commits and tags a release beside the work tree, as one that was fetched. @returns its commit */
export function addRelease(codebase: Codebase, tag: string, change: ReleaseChange): string {
  const folder = mkdtempSync(join(tmpdir(), 'claw-release-'));
  codebase.git('worktree', 'add', '--quiet', '--detach', folder, change.from ?? 'v1.0.0');
  const release = openCodebase(folder);
  for (const path of change.gone ?? []) release.remove(path);
  release.write({ ...packagedSkills(change.skills ?? {}), ...change.files });
  commitAll(release, tag);
  const commit = release.git('rev-parse', 'HEAD').trim();
  codebase.git('tag', tag, commit);
  codebase.git('worktree', 'remove', '--force', folder);
  rmSync(folder, { recursive: true, force: true });
  return commit;
}

/** `package.json` of a core in some version. */
export function versioned(version: string, rest: object = {}): string {
  return `${JSON.stringify({ name: 'app', version, ...rest }, null, 2)}\n`;
}
