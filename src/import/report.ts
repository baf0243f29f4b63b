import { type Plan, type PlanLine, titleOf } from './plan.ts';
import type { UndoPlan } from './undo.ts';
import type { Imported } from './write.ts';

const HEADINGS: readonly (readonly [PlanLine['kind'], string])[] = [
  ['comes', 'Comes:'],
  ['changes', 'Comes, changed:'],
  ['waits', 'Waits until the other assistant is stopped for good (--take-over):'],
  ['stays', 'Does not come:'],
];

/** Shows a plan, an item a line. */
export function planLines(plan: Plan): readonly string[] {
  const parts = HEADINGS.flatMap(([kind, heading]) => {
    const lines = plan.lines.filter((line) => line.kind === kind);
    return lines.length === 0
      ? []
      : [heading, ...lines.map(({ what, text }) => `  ${what}: ${text}`)];
  });
  const title = titleOf(plan.product);
  return [`${title} ${plan.version}`, ...parts, ...codeLines(plan), ...plan.warnings];
}

function codeLines({ product, lines, codeBase }: Plan): readonly string[] {
  const code = lines.filter(({ kind }) => kind === 'code');
  if (code.length === 0) return [];
  const heading =
    codeBase === null ? 'Its code:' : `Its code, beside ${titleOf(product)} ${codeBase}:`;
  return [heading, ...code.map(({ what, text }) => `  ${what}: ${text}`)];
}

/** Tells what an import has brought, and what to do next. */
export function importedLines(
  plan: Plan,
  imported: Imported,
  backup: string | null,
): readonly string[] {
  const title = titleOf(plan.product);
  if (imported.id === null) {
    return [`Nothing new in ${title}: everything that can come is here. Nothing was changed.`];
  }
  const counts = [
    counted(imported.groups, 'chat'),
    counted(imported.messages, 'message'),
    counted(imported.tasks, 'task'),
    counted(imported.files, 'file'),
    counted(imported.settings, 'setting'),
  ].filter((text) => text !== null);
  const waits = plan.lines.some(({ kind }) => kind === 'waits');
  return [
    `Imported from ${title} ${plan.version}: ${counts.join(', ')}.`,
    ...(backup === null ? [] : [`The state from before is in ${backup}.`]),
    ...(waits
      ? [
          `If ${title} is stopped for good, run the same command with --take-over: its logins come, and the tasks start.`,
        ]
      : []),
    'To take all of it back: npx claw import --undo',
    'Start the assistant: npx claw start',
  ];
}

/** Returns the question before an undo that would lose something; null if nothing is lost. */
export function undoQuestion({ usedChats }: UndoPlan): string | null {
  if (usedChats.length === 0) return null;
  return `Since the import, something was said in ${usedChats.join(', ')}. Undoing it unregisters these chats; what was said since stays in the history.`;
}

/** Tells what an undo has taken back, and what it left. */
export function undoneLines(plan: UndoPlan, kept: readonly string[]): readonly string[] {
  const { product, source } = plan.run;
  return [
    `Took back the import of ${titleOf(product)} from ${source}: ${counted(plan.messages, 'message') ?? 'no message'}, and all that came with it.`,
    ...(kept.length === 0 ? [] : ['You changed these since, so they stay:']),
    ...kept.map((name) => `  ${name}`),
  ];
}

function counted(count: number, noun: string): string | null {
  return count === 0 ? null : `${count} ${noun}${count === 1 ? '' : 's'}`;
}
