import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { defineExamination, type Finding, ok, problem } from './examination.ts';

const AREA = 'persona';
const FILES = ['SOUL', 'IDENTITY', 'USER', 'AGENTS', 'ENVIRONMENT', 'TOOLS'];
/** The most of one file that an agent is shown; `container/agent/persona/files.ts` cuts there. */
const MAX_BYTES = 20_480;

/** Tells which files of a persona there are, which are cut, and whether the introduction is still to come. */
export const examination = defineExamination({
  area: AREA,
  order: 63,
  settings: z.object({}),
  async examine({ projectDir }) {
    const groups = join(projectDir, 'groups');
    const folders = (await readdir(groups).catch(() => [])).sort();
    const found = await Promise.all(folders.map((folder) => findingsOf(groups, folder)));
    if (found.flat().length > 0) return found.flat();
    return [ok(AREA, 'no files yet', '`npx claw setup persona` writes some to fill in.')];
  },
});

async function findingsOf(groups: string, folder: string): Promise<readonly Finding[]> {
  const sizeOf = async (name: string) => {
    // Names and sizes alone: what an agent can write is not opened, and a link is not followed.
    const file = await lstat(join(groups, folder, `${name}.md`)).catch(() => null);
    return file?.isFile() === true ? [{ name, size: file.size }] : [];
  };
  const files = (await Promise.all(FILES.map(sizeOf))).flat();
  const [introduction] = await sizeOf('BOOTSTRAP');
  if (files.length === 0 && introduction === undefined) return [];
  const names = files.map(({ name }) => `${name}.md`).join(', ');
  const next = introduction && 'BOOTSTRAP.md is there until the first conversation is done.';
  return [
    ok(AREA, `groups/${folder}: ${names === '' ? 'BOOTSTRAP.md' : names}`, next ?? null),
    ...files
      .filter(({ size }) => size > MAX_BYTES)
      .map(({ name, size }) =>
        problem(
          AREA,
          `groups/${folder}/${name}.md has ${Math.ceil(size / 1024)} KB, and the agent is shown 20`,
          'Put what is needed less often into a file of its own, and name it there.',
        ),
      ),
  ];
}
