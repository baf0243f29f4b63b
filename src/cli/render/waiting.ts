import type { Conflict, DataOf } from '../../engine/commands.ts';

/** Returns the lines of `claw conflicts`: the operation that waits, and how each conflict can be resolved. */
export function waitingLines(
  { operation, details = [], answers }: DataOf<'conflicts'>,
  conflicts: readonly Conflict[],
): readonly string[] {
  if (operation === null) return ['Nothing waits for a decision.'];
  if (answers !== undefined) return [answers.trimEnd()];
  const lines = details.flatMap(({ path, decided, text, values, offers }) => {
    if (decided) return [`  ✓ ${path}  decided`];
    const conflict = conflicts.find((one) => one.path === path);
    const sides = conflict?.layers ?? ['ours', 'theirs'];
    return [
      `  ! ${path}  ${conflict?.kind ?? 'conflict'}, ${sides.join(' against ')}`,
      ...(conflict ? [`    ${conflict.reason}`, ...movedLines(conflict, false)] : []),
      ...(values ? [`    ${sides[0]}: ${wanted(values.ours)}`] : []),
      ...(values ? [`    ${sides[1]}: ${wanted(values.theirs)}`] : []),
      ...(text === null ? [] : [`    see ${text}`]),
      ...offers.map(({ key, origin }) => `    offered: --recording ${key}  (by ${byWhom(origin)})`),
    ];
  });
  const isOpen = details.some(({ decided }) => !decided);
  return [
    `"${[operation.verb, ...operation.arguments].join(' ')}" waits:`,
    ...lines,
    isOpen ? WAYS_ON : '`claw continue` goes on, `claw abort` forgets this.',
  ];
}

/** Returns the commands that tell claw of a moved file, where the release has candidates for it. */
export function movedLines(
  { path, candidates = [] }: Conflict,
  isPlan: boolean,
): readonly string[] {
  return candidates.map((to) =>
    isPlan
      ? `    --moved ${path}=${to}  would say so`
      : `    if so: claw resolve ${path} --moved ${to}`,
  );
}

/** The commands for an operation that waits for decisions. */
export const WAYS_ON =
  '`claw resolve <path>` resolves a conflict, `claw continue` goes on, `claw abort` forgets this.';

/** Returns lines about a decision of `claw resolve`, and about the conflicts that are still open. */
export function resolvedLines({ path, open }: DataOf<'resolve'>): readonly string[] {
  const next =
    open.length === 0
      ? 'Nothing is open any more: `claw continue` goes on.'
      : `Still open: ${open.join(', ')}.`;
  return [path === null ? next : `Decided: ${path}. ${next}`];
}

/** Returns the recorded resolutions, or the one that was forgotten. */
export function recordingLines(data: DataOf<'resolutions'>): readonly string[] {
  if ('forgotten' in data) {
    return [`Forgotten: ${data.forgotten}. The tree stays; the next command that needs it asks.`];
  }
  if (data.length === 0) return ['None.'];
  return data.map(({ key, path, layers, origin, own, used }) => {
    const notes = [
      `by ${byWhom(origin)}`,
      ...(own ? [] : ['made elsewhere']),
      used ? 'in use' : 'not in use',
    ];
    return `${key}  ${path}  ${layers.join(' against ')}  (${notes.join(', ')})`;
  });
}

function byWhom(origin: string): string {
  return origin === 'owner' ? 'its owner' : origin;
}

function wanted(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
