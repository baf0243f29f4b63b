import { type Conflict, type DataOf, shellWord } from '../../commands.ts';
import type { Screen } from '../screen.ts';
import { conflictLines, type Detail, headingLines } from './conflict.ts';

/** Returns the lines of `claw conflicts`: the operation that waits, and how each conflict can be resolved. */
export function waitingLines(
  { operation, details = [], answers }: DataOf<'conflicts'>,
  conflicts: readonly Conflict[],
  screen: Screen,
): readonly string[] {
  if (operation === null) return ['Nothing waits for a decision.'];
  if (answers !== undefined) return [answers.trimEnd()];
  const lines = details.flatMap((detail) => {
    const conflict = conflicts.find((one) => one.path === detail.path);
    if (detail.decided || conflict === undefined) return [`  ✓ ${detail.path}  decided`];
    return openLines(conflict, detail, screen);
  });
  const isOpen = details.some(({ decided }) => !decided);
  return [
    `"${[operation.verb, ...operation.arguments].join(' ')}" waits:`,
    ...lines,
    ...(isOpen ? WAYS_ON : [`All conflicts are resolved. ${CARRY_OUT}`]),
  ];
}

/** Places that a command shows in full when it is blocked; `claw conflicts` shows all. */
const SHOWN_PLACES = 6;

/** Returns the conflicts by which a command is blocked: the first ones whole, the others by their names. */
export function blockingLines(
  conflicts: readonly Conflict[],
  details: readonly Detail[],
  screen: Screen,
): readonly string[] {
  let shown = 0;
  const lines = conflicts.flatMap((conflict) => {
    const detail = details.find(({ path }) => path === conflict.path);
    shown += Math.max(1, detail?.places.length ?? 1);
    if (detail === undefined || detail.decided) return [];
    return shown <= SHOWN_PLACES
      ? openLines(conflict, detail, screen)
      : headingLines(conflict, detail, screen);
  });
  const more = shown <= SHOWN_PLACES ? [] : ['`claw conflicts` shows all of them.'];
  return [...lines, ...more, ...WAYS_ON];
}

function openLines(conflict: Conflict, detail: Detail, screen: Screen): readonly string[] {
  const { text, offers } = detail;
  return [
    ...conflictLines(conflict, detail, screen),
    ...movedLines(conflict, false),
    ...(text === null ? [] : [`    see ${text}`]),
    ...offers.map(({ key, origin }) => `    offered: --recording ${key}  (by ${byWhom(origin)})`),
  ];
}

/** Returns the commands that tell claw of a moved file, where the release has candidates for it. */
export function movedLines(
  { path, candidates = [] }: Conflict,
  isPlan: boolean,
): readonly string[] {
  return candidates.map((to) =>
    isPlan
      ? `    --moved ${shellWord(`${path}=${to}`)}  would say so`
      : `    if so: claw resolve ${shellWord(path)} --moved ${shellWord(to)}`,
  );
}

/** The commands for an operation that waits for decisions. */
export const WAYS_ON = [
  '`claw resolve <path>` resolves a conflict, with `--choose 1` by the number of a choice.',
  '`claw continue` carries the command out once all are resolved, `claw abort` forgets it.',
];

/** The next step that every verb names once nothing is open. */
const CARRY_OUT = '`claw continue` carries the command out, `claw abort` forgets it.';

/** Returns lines about a decision of `claw resolve`, and about the conflicts that are still open. */
export function resolvedLines({ path, open }: DataOf<'resolve'>): readonly string[] {
  const next =
    open.length === 0
      ? `All conflicts are resolved. ${CARRY_OUT}`
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
  if (origin === 'release') return 'the release, which contains it';
  return origin === 'owner' ? 'its owner' : origin;
}
