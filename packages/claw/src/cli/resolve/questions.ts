import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { harmlessLines, type Screen } from '../../text/screen.ts';
import { besideLines, type Detail, placeLines } from '../../verbs/conflicts/print.ts';
import { type Choice, ClawError, type Conflict } from '../../verbs.ts';
import { isCancel, keyAndEnter, text } from '../prompts.ts';

/** The owner's answer about a conflict: a choice, the model's, later, or no more questions. */
export type ResolveAnswer = Choice | MovedChoice | 'model' | 'left' | 'stop';

/** The release moved the file there. */
type MovedChoice = { readonly kind: 'moved'; readonly to: string };

export type QuestionOptions = {
  readonly hasModel: boolean;
  readonly screen: Screen;
  readonly detail: Detail;
};

type Way = Detail['places'][number]['ways'][number];
type HunkChoice = Extract<Choice, { kind: 'picks' }>['picks'][number];

/** Asks hunk by hunk; a conflict is resolved only as a whole. */
export async function askHunks(
  conflict: Conflict,
  options: QuestionOptions,
): Promise<ResolveAnswer> {
  const { detail, screen } = options;
  const open = conflict.hunks.flatMap((hunk) => (hunk.kind === 'conflict' ? [hunk] : []));
  const picks: HunkChoice[] = [];
  // The place that a block left and the one where it is now are one question.
  const moves = new Map<string, boolean>();
  for (const [index, hunk] of open.entries()) {
    const all = detail.places[index]?.ways ?? [];
    const following = all.find(({ label }) => moves.get(label) === true);
    if (following !== undefined) {
      picks.push(following.pick);
      continue;
    }
    const ways = all.filter(({ label }) => !moves.has(label));
    const count = open.length === 1 ? '' : ` ${index + 1} of ${open.length}`;
    let pick: HunkChoice | null = null;
    // What was picked for the places before outlives a text that is not finished.
    while (pick === null) {
      show(placeLines(detail, index, screen));
      const answer = await askHunk(ways, count, options);
      const offered = offerOf(answer, options);
      if (offered !== null) return offered;
      if (answer === null) return 'stop';
      if (answer === 'm') return 'model';
      if (answer === 'l') return 'left';
      const way = ways[Number(answer) - 1];
      pick = answer === 'e' ? editHunk(conflict, hunk) : (way?.pick ?? null);
      for (const { rule, label } of ways)
        if (rule === 'moved') moves.set(label, way?.label === label);
    }
    picks.push(pick);
  }
  return { kind: 'picks', picks };
}

/** Asks about one place; the keys are the numbers that `claw conflicts` shows, and letters. */
function askHunk(ways: readonly Way[], count: string, options: QuestionOptions) {
  return choose(`What do you want here?${count}`, [
    ...ways.map(({ label }, at) => [String(at + 1), label] as const),
    ['e', 'edit'],
    ...modelOption(options),
    ...offerOptions(options),
    ['l', 'leave this file for later'],
  ]);
}

/** Asks about a file that has no lines to choose from: the owner takes one side or the other. */
export async function askForSide(
  conflict: Conflict,
  options: QuestionOptions,
): Promise<ResolveAnswer> {
  const { candidates = [] } = conflict;
  const moved = candidates.map((to, at) => [String(at + 3), `it moved to ${to}`] as const);
  const answer = await choose('What do you want here?', [
    ...wayOptions(options),
    ...moved,
    ...modelOption(options),
    ...offerOptions(options),
    ['l', 'leave it for later'],
  ]);
  const to = candidates[moved.findIndex(([key]) => key === answer)];
  if (to !== undefined) return { kind: 'moved', to };
  return offerOf(answer, options) ?? sideOrRest(answer);
}

/** Asks for the value of a key. */
export async function askForValue(
  conflict: Conflict,
  options: QuestionOptions,
): Promise<ResolveAnswer> {
  const { values, layers, path } = conflict;
  const texts = {
    base: valueText(values?.base),
    ours: valueText(values?.ours),
    theirs: valueText(values?.theirs),
  };
  const { keeps } = options.detail;
  const labels = { ours: layers[0], theirs: layers[1] };
  show(besideLines(texts, labels, { screen: options.screen, notes: keeps }));
  const answer = await choose(`Which value do you want for ${path.split('#')[1]}?`, [
    ...wayOptions(options),
    ['e', 'another one'],
    ...modelOption(options),
    ...offerOptions(options),
    ['l', 'leave it for later'],
  ]);
  if (answer !== 'e') return offerOf(answer, options) ?? sideOrRest(answer);
  const given = await text({ message: 'The value', output: process.stderr });
  return isCancel(given) ? 'left' : { kind: 'with', given: given ?? '' };
}

function sideOrRest(answer: string | null): ResolveAnswer {
  if (answer === '1') return { kind: 'ours' };
  if (answer === '2') return { kind: 'theirs' };
  if (answer === 'm') return 'model';
  return answer === null ? 'stop' : 'left';
}

type Options = readonly (readonly [key: string, label: string])[];

function wayOptions({ detail }: QuestionOptions): Options {
  return detail.ways.map(({ label }, at) => [String(at + 1), label]);
}

function modelOption({ hasModel }: QuestionOptions): Options {
  return hasModel ? [['m', 'let the model propose, for the whole file']] : [];
}

/** Recordings that may fit, by letters. */
function offerOptions({ detail: { offers } }: QuestionOptions): Options {
  return offers
    .slice(0, OFFER_KEYS.length)
    .map(({ key, origin }, at) => [letterOf(at), `the recording ${key} (by ${origin})`]);
}

function offerOf(answer: string | null, { detail: { offers } }: QuestionOptions): Choice | null {
  const offer = offers.find((_, at) => letterOf(at) === answer);
  return offer === undefined ? null : { kind: 'recording', key: offer.key };
}

/** Letters that no other choice has. */
const OFFER_KEYS = 'abcdfghijk';

function letterOf(at: number): string {
  return OFFER_KEYS[at] ?? '';
}

/** Returns the key that was typed; null where the owner wants out. */
async function choose(message: string, options: Options): Promise<string | null> {
  return await keyAndEnter(message, options, process.stderr);
}

/** Returns the edited text; null where markers are left in it, after telling the owner. */
function editHunk(
  { path, layers }: Conflict,
  hunk: Extract<Conflict['hunks'][number], { kind: 'conflict' }>,
): HunkChoice | null {
  const marks = [`<<<<<<< ${layers[0]}`, '||||||| base', '=======', `>>>>>>> ${layers[1]}`];
  const sides = [hunk.ours, hunk.base, hunk.theirs, []];
  const marked = marks.map((mark, at) => `${mark}\n${closed(sides[at] ?? [])}`).join('');
  const edited = editText(marked, path.split('#')[0] ?? path, process.env);
  const isLeft = edited.split('\n').some((line) => marks.includes(line.trimEnd()));
  if (!isLeft) return { text: edited };
  show(['The text still holds conflict markers: leave only the lines that you want.']);
  return null;
}

function closed(lines: readonly string[]): string {
  const words = Buffer.from(lines.join(''), 'latin1').toString('utf8');
  return words === '' || words.endsWith('\n') ? words : `${words}\n`;
}

/**
 * Lets the owner edit a text in their own editor (`$VISUAL`, `$EDITOR`, else vi).
 *
 * @param name of a file like it, so that the editor knows the language
 * @throws ClawError USAGE where the editor does not start, or says that it failed
 */
function editText(
  text: string,
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'claw-edit-'));
  const place = join(folder, basename(name));
  const editor = environment['VISUAL'] || environment['EDITOR'] || 'vi';
  try {
    writeFileSync(place, text);
    // Editors are commands with options as often as they are programs: `code --wait`.
    const run = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', place], { stdio: 'inherit' });
    if (run.status !== 0) {
      throw new ClawError('USAGE', `The editor (${editor}) failed; nothing was taken over.`);
    }
    return readFileSync(place, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

function show(lines: readonly string[]): void {
  process.stderr.write(`\n${harmlessLines(lines.join('\n'))}\n`);
}
