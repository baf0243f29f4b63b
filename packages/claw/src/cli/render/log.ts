import type { DataOf } from '../../commands.ts';
import { MARKS } from './status.ts';

/** Files that are named for each command; `--json` has all. */
const SHOWN_FILES = 5;

/** Returns the lines of `claw log`. */
export function logLines(entries: DataOf<'log'>): readonly string[] {
  if (entries.length === 0) return ['No command is kept that could be undone.'];
  return [
    ...entries.flatMap(({ time, verb, summary, skills, files }) => [
      `${time.slice(0, 16).replace('T', ' ')} UTC  ${summary}${namesOf(verb, summary, skills)}  ${counted(files.length)}`,
      ...files.slice(0, SHOWN_FILES).map(({ path, kind }) => `  ${MARKS[kind]} ${path}`),
      ...(files.length > SHOWN_FILES ? [`  and ${files.length - SHOWN_FILES} more`] : []),
    ]),
    '`claw undo` takes back the first of these.',
  ];
}

/** Names the skills that the command line itself does not name. */
function namesOf(verb: string, summary: string, skills: readonly string[]): string {
  const words = summary.split(' ');
  const others = skills.filter((name) => !words.includes(name));
  return others.length === 0 || verb === 'undo' ? '' : `  (${others.join(', ')})`;
}

function counted(count: number): string {
  if (count === 0) return 'no file of the project';
  return count === 1 ? '1 file' : `${count} files`;
}

/** Returns the lines of `claw show`. */
export function showLines(skill: DataOf<'show'>): readonly string[] {
  const { name, version, description, applied, needs, conflicts, files, packages } = skill;
  const isIn =
    applied === null
      ? `not in the code: \`claw apply ${name}\` adds it`
      : applied === version
        ? 'in the code'
        : `version ${applied} is in the code: \`claw upgrade ${name}\` brings this one`;
  const settings = skill.settings.map((one) => {
    const note = one.isOptional ? ' (optional)' : one.isSecret ? ' (secret)' : '';
    return `  ${one.name}${note}${one.description === null ? '' : `  ${one.description}`}`;
  });
  return [
    `${name} ${version}  ${description}`,
    `${isIn}; from ${skill.source}; for release ${skill.coreVersion}`,
    ...(needs.length === 0
      ? []
      : [`needs: ${needs.map((one) => `${one.name} ${one.range}`).join(', ')}`]),
    ...(conflicts.length === 0 ? [] : [`does not go with: ${conflicts.join(', ')}`]),
    ...(packages.length === 0 ? [] : [`npm packages: ${packages.join(', ')}`]),
    ...(settings.length === 0 ? [] : ['settings in .env:', ...settings]),
    ...(files.length === 0 ? [] : ['files:']),
    ...files.map(({ path, kind }) => `  ${MARKS[kind]} ${path}`),
  ];
}
