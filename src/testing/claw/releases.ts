import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { TestProject } from '../assistant.ts';
import { git, skills, write } from '../owner/owner-chat.ts';

/** The one file of the core, as released first. */
export const CODE = 'export const one = 1;\n\nexport const two = 2;\n\nexport const three = 3;\n';
/** The same file as changed by the skill `b`. */
const B = CODE.replace('= 2', "= 'b'");

/** Returns the `package.json` of a version. */
export function manifest(version: string): string {
  return `{ "name": "demo", "version": "${version}" }\n`;
}

/** Returns a clone of a remote that has released 1.0.0, both to be disposed of. */
export function cloneOfReleases(): { readonly project: TestProject; readonly remote: TestProject } {
  const files = {
    'package.json': manifest('1.0.0'),
    'src/a.ts': CODE,
    'claw.config.yaml': 'check: []\n',
    '.gitignore': 'data/\n',
    ...skills({ b: { modify: { 'src/a.ts': [CODE, B] } } }),
  };
  const remote = new TestProject(files);
  git(remote.dir, 'init', '--quiet', '--initial-branch=main');
  release(remote, 'v1.0.0', {});
  const project = new TestProject();
  rmSync(project.dir, { recursive: true });
  git(tmpdir(), 'clone', '--quiet', remote.dir, project.dir);
  return { project, remote };
}

/** Commits and tags a release. */
export function release(
  remote: TestProject,
  tag: string,
  files: Readonly<Record<string, string>>,
): void {
  write(remote, files);
  git(remote.dir, 'add', '--all');
  git(remote.dir, 'commit', '--quiet', '--allow-empty', '-m', tag);
  git(remote.dir, 'tag', tag);
}
