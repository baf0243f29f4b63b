import { registeredNames } from '../host/command-completion.ts';
import { type CommandContext, defineCommand } from '../host/contracts/command.ts';
import { type Word, wordsOf } from '../host/groups/command-words.ts';
import { answerOrRefusal, groupAndRest } from '../host/groups/group-command.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';
import type { MemoryWrite } from '../host/groups/memory-book.ts';
import { localTime } from '../host/scheduler/local-time.ts';
import { cutText } from '../lib/cut-text.ts';
import { withoutChange } from '../lib/without-change.ts';
import type { MemoryVersion } from '../store/store.ts';

const USAGE = [
  'Say `/memory Family` for what is written down there, `/memory Family log` for its versions, `/memory Family version 4` for one of them, `/memory Family undo 4` to take that change back.',
  'To write it, name the version that you have read, and put the whole text below:',
  '`/memory Family write 4`',
  '`/memory Family empty 4` leaves nothing written down.',
].join('\n\n');
const LOGGED = 20;
const SHOWN_BYTES = 12_000;

/** A chat's memory: `global` is that of all groups. */
type Place = { readonly folder: string; readonly name: string };

export const command = defineCommand({
  scope: 'owner',
  name: 'memory',
  topic: 'chats',
  help: 'show what is written down about a chat: `/memory Family`, `/memory Family log`; `/memory Family undo 4` takes one change back',
  complete: (context) =>
    ['global', ...registeredNames(context)].flatMap((name) => [name, `${name} log`]),
  isQuick: true,
  run: (context, argument) =>
    answerOrRefusal(async () => {
      // The text below the first line is taken as it is.
      const end = argument.indexOf('\n');
      const head = end === -1 ? argument : argument.slice(0, end);
      const words = wordsOf(head);
      if (words.length === 0) return { kind: 'answer', text: USAGE };
      const { place, rest } = placeAndRest(context, words);
      const below = end === -1 ? null : argument.slice(end + 1);
      return { kind: 'answer', text: await answerTo(context, place, rest, below) };
    }, `memory ${argument}`),
});

/** @throws GroupRefused where the words begin with no chat */
function placeAndRest(
  context: CommandContext,
  words: readonly Word[],
): { readonly place: Place; readonly rest: readonly string[] } {
  const [first, ...others] = words;
  if (first?.text.toLowerCase() === 'global' && !first.isQuoted) {
    const place = { folder: 'global', name: 'all groups' };
    return { place, rest: others.map(({ text }) => text.toLowerCase()) };
  }
  const { group, rest } = groupAndRest(context, words);
  return { place: group, rest: rest.map(({ text }) => text.toLowerCase()) };
}

async function answerTo(
  context: CommandContext,
  place: Place,
  [verb, number, ...more]: readonly string[],
  below: string | null,
): Promise<string> {
  const { memory } = context;
  const seq =
    number !== undefined && /^#?\d{1,12}$/.test(number) ? Number(number.replace('#', '')) : null;
  if (more.length > 0 || (below !== null && verb !== 'write')) throw new GroupRefused(USAGE);
  if (verb === undefined) return await shown(context, place);
  if (verb === 'log' && number === undefined) return await logOf(context, place);
  if (seq === null) throw new GroupRefused(USAGE);
  if (verb === 'version') return versionText(versionOf(context, place, seq).version, place);
  if (verb === 'undo') return await undo(context, place, seq);
  // A message ends with its last word, so that an empty text has a verb of its own.
  if (verb === 'empty') return writeText(place, seq, await memory.write(place.folder, '', seq), '');
  if (verb !== 'write' || below === null) throw new GroupRefused(USAGE);
  const text = below.trim() === '' ? '' : `${below.trimEnd()}\n`;
  return writeText(place, seq, await memory.write(place.folder, text, seq), text);
}

async function shown({ memory }: CommandContext, place: Place): Promise<string> {
  const version = await memory.read(place.folder);
  return version === null ? nothingIn(place) : versionText(version, place);
}

const nothingIn = ({ folder }: Place): string => `Nothing is written down in groups/${folder}.`;

function versionText({ seq, text }: MemoryVersion, { name, folder }: Place): string {
  const head = `Memory of ${name} (groups/${folder}/CLAUDE.md), version ${seq}:`;
  return `${head}\n\n${quoted(text)}`;
}

/** The text in a fence longer than any in it. */
function quoted(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}markdown\n${cutText(text.trimEnd(), SHOWN_BYTES).text}\n${fence}`;
}

async function logOf(context: CommandContext, place: Place): Promise<string> {
  const { memory } = context;
  await memory.read(place.folder);
  const versions = memory.last(place.folder, LOGGED);
  if (versions.length === 0) return nothingIn(place);
  const lines = versions.map(
    ({ seq, author, at, text }) =>
      `- ${seq}: ${localTime(at, context.tasks.timeZone)}, by ${AUTHORS[author]}, ${text.length} characters`,
  );
  return [`Memory of ${place.name}, newest first:`, '', ...lines].join('\n');
}

const AUTHORS = { agent: 'its agent', owner: 'you', file: 'a change of the file' } as const;

function versionOf({ memory }: CommandContext, { folder, name }: Place, seq: number) {
  const found = memory.version(folder, seq);
  if (found !== null) return found;
  throw new GroupRefused(
    `The memory of ${name} has no version ${seq}. \`/memory ${JSON.stringify(name)} log\` lists them.`,
  );
}

/** Takes one change out, and leaves what was written since. */
async function undo(context: CommandContext, place: Place, seq: number): Promise<string> {
  const { version, before } = versionOf(context, place, seq);
  const now = await context.memory.read(place.folder);
  if (before === null || now === null)
    throw new GroupRefused(`Version ${seq} is the oldest that is known: nothing is before it.`);
  const text = withoutChange(now.text, { before: before.text, after: version.text });
  if (text === null) {
    throw new GroupRefused(
      [
        `Change ${seq} cannot be undone by itself: its lines were changed again since. Nothing was written.`,
        `Before the change:\n\n${quoted(before.text)}`,
        `Now, version ${now.seq}:\n\n${quoted(now.text)}`,
      ].join('\n\n'),
    );
  }
  return writeText(place, seq, await context.memory.write(place.folder, text, now.seq), text);
}

function writeText(place: Place, from: number, outcome: MemoryWrite, text: string): string {
  if (outcome.kind === 'written')
    return `Written: the memory of ${place.name} is at version ${outcome.version.seq}. Its agent reads it with the next message.`;
  return [
    `Nothing was written: version ${from} of the memory of ${place.name} is out of date. It is at version ${outcome.now.seq}:`,
    quoted(outcome.now.text),
    'Your text:',
    quoted(text),
  ].join('\n\n');
}
