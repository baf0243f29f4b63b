import { UpdateData } from '@patchclaw/claw/contract';
import { type ClawResult, dataBy } from '../contracts/claw.ts';

/** Returns the heading of an update, above its changes to the files here. */
export function updateTitle(result: ClawResult): string {
  const update = dataBy(UpdateData, result);
  if (update === null) return 'This update:';
  const { from, to, files, affected, retired, broughtSkills } = update;
  const { added, changed } = besideCore(broughtSkills, result.changes);
  const count = files === 1 ? '1 file' : `${files} files`;
  return [
    `Core ${from.version ?? 'unknown'} → ${to.version ?? 'unknown'}: ${count} of it changed.`,
    ...Object.entries(affected).map(([skill, paths]) => `- ${skill} works on ${someOf(paths)}`),
    ...(added.length > 0 ? [`- new skills to add: ${someOf(added)}`] : []),
    ...(changed.length > 0 ? [`- changed skill packages: ${someOf(changed)}`] : []),
    ...(retired.length > 0 ? [`- retires: ${someOf(retired)}`] : []),
  ].join('\n');
}

/** Returns the packages that the release adds, and the known ones that it changes. */
function besideCore(names: readonly string[], changes: ClawResult['changes']) {
  const kindsIn = (name: string) =>
    changes.filter(({ path }) => path.startsWith(`skills/${name}/`)).map(({ kind }) => kind);
  const isNew = (name: string) => kindsIn(name).every((kind) => kind === 'add');
  const isGone = (name: string) => kindsIn(name).every((kind) => kind === 'delete');
  const here = names.filter((name) => kindsIn(name).length > 0 && !isGone(name));
  return {
    added: here.filter(isNew),
    changed: here.filter((name) => !isNew(name)),
  };
}

const NAMED = 4;

function someOf(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return `${names.slice(0, NAMED).join(', ')}${more}`;
}
