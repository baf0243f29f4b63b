import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import type { Decision } from '../compose/resolve-conflict.ts';
import type { Conflict } from '../conflict.ts';
import { ClawError } from '../errors.ts';
import { parsePlainYaml } from '../package/manifest/plain-yaml.ts';
import { lstat } from '../package/regular-file.ts';
import type { Choice, HunkChoice } from './choice.ts';
import { canBeDecided, isDecided } from './decide.ts';
import { type Roles, takeWords } from './named-side.ts';

const LIMITS = { sizeBytes: 16 * 1024 * 1024, depth: 32 };

const PickOf = z.union([
  z.enum(['ours', 'theirs', 'ours-theirs', 'theirs-ours']),
  z.strictObject({ text: z.string() }),
]);

const AnswerOf = z.union([
  z.null(),
  z.enum(['ours', 'theirs', 'ours-theirs', 'theirs-ours']),
  z.strictObject({ take: z.string() }),
  z.strictObject({ text: z.string() }),
  z.strictObject({ file: z.string() }),
  z.strictObject({ value: z.json() }),
  z.strictObject({ recording: z.string() }),
  z.strictObject({ moved: z.string() }),
  z.strictObject({ hunks: z.array(PickOf) }),
]);

const AnswersFile = z.record(z.string(), AnswerOf);

const FORMS =
  'take, ours, theirs, ours-theirs, theirs-ours, text, file, value, recording, moved or hunks';

/**
 * The content of a file of answers: by path, how a conflict is resolved, or where the release has the file
 * now.
 */
export type Answers = {
  readonly choices: ReadonlyMap<string, Choice>;
  readonly moves: ReadonlyMap<string, string>;
};

/**
 * Reads a file of answers: YAML or JSON, a path in conflict → how it is resolved; null leaves it open.
 *
 * @throws ClawError FILE_MISSING, YAML_INVALID, LIMIT_EXCEEDED, SCHEMA_INVALID with the path in question
 */
export function readAnswers(cwd: string, given: string): Answers {
  const place = resolve(cwd, given);
  if (lstat(place)?.isFile() !== true) {
    const message = `There is no file ${given} with answers. \`claw conflicts --answers\` prints one to fill in.`;
    throw new ClawError('FILE_MISSING', message, { path: given });
  }
  const content = parsePlainYaml(readFileSync(place), given, LIMITS) ?? {};
  const parsed = AnswersFile.safeParse(content);
  if (!parsed.success) throw unreadable(given, parsed.error);
  const choices = new Map<string, Choice>();
  const moves = new Map<string, string>();
  for (const [path, answer] of Object.entries(parsed.data)) {
    if (answer === null) continue;
    if (typeof answer === 'object' && 'moved' in answer) moves.set(path, answer.moved);
    else choices.set(path, choiceOf(answer));
  }
  return { choices, moves };
}

type Answer = NonNullable<z.output<typeof AnswerOf>>;

function choiceOf(answer: Exclude<Answer, { readonly moved: string }>): Choice {
  if (answer === 'ours' || answer === 'theirs') return { kind: 'word', word: answer };
  if (answer === 'ours-theirs') return { kind: 'both-by', first: 'ours' };
  if (answer === 'theirs-ours') return { kind: 'both-by', first: 'theirs' };
  if ('take' in answer) return { kind: 'take', layer: answer.take };
  if ('text' in answer) return { kind: 'text', text: answer.text };
  if ('file' in answer) return { kind: 'with', given: answer.file };
  if ('value' in answer) return { kind: 'value', value: answer.value };
  if ('recording' in answer) return { kind: 'recording', key: answer.recording };
  return { kind: 'picks', picks: answer.hunks satisfies readonly HunkChoice[] };
}

function unreadable(file: string, { issues }: z.ZodError): ClawError {
  const path = String(issues[0]?.path[0] ?? '');
  const where = path === '' ? file : `${file}: the answer for ${path}`;
  return new ClawError('SCHEMA_INVALID', `${where} is not one of ${FORMS}.`, {
    path: path === '' ? file : path,
  });
}

/** Returns a file of answers to fill in: every open conflict that an answer can resolve, with its sides. */
export function answersTemplate(
  operation: string,
  conflicts: readonly Conflict[],
  decisions: readonly Decision[],
  roles: Roles,
): string {
  const open = conflicts.filter((one) => !isDecided(one, decisions) && canBeDecided(one));
  const head = [
    `# Answers for "${operation}". Fill in, then: claw resolve --answers FILE`,
    '# Behind each path: {take: a side}; ours, theirs, ours-theirs or theirs-ours (both, in that order);',
    '# {text: |…} or {file: path} for a finished text, {value: …} for a key, {recording: key};',
    '# {hunks: [ours, {text: …}, …]} for one after the other; {moved: path} where the release has the',
    '# file now. Left empty, it stays open.',
  ];
  return `${[...head, ...open.flatMap((one) => question(one, roles))].join('\n')}\n`;
}

function question(conflict: Conflict, roles: Roles): readonly string[] {
  const { path, layers, reason, hunks, values, candidates = [] } = conflict;
  const [ours, theirs] = takeWords(conflict, roles).map((word) => JSON.stringify(word));
  const count = hunks.filter(({ kind }) => kind === 'conflict').length;
  const places = count > 1 ? [`# ${count} hunks`] : [];
  const sides =
    values === null
      ? []
      : [`# ours: ${JSON.stringify(values.ours)}`, `# theirs: ${JSON.stringify(values.theirs)}`];
  return [
    '',
    `# ours is ${layers[0]}, theirs is ${layers[1]}: ${reason.replaceAll('\n', ' ')}`,
    `# {take: ${ours}} or {take: ${theirs}}`,
    ...places,
    ...sides,
    ...candidates.map((one) => `# {moved: ${one}}`),
    `${stringify(path, { lineWidth: 0 }).trimEnd()}:`,
  ];
}
