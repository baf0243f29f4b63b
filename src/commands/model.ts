import { type CommandContext, defineCommand } from '../host/contracts/command.ts';
import { joined, type Word, wordsOf } from '../host/groups/command-words.ts';
import { answerOrRefusal, groupAndRest } from '../host/groups/group-command.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';
import type { ChatModels } from '../host/models/chat-models.ts';
import { numbersText, originText } from '../host/models/model-text.ts';
import { nearestModel } from '../model/catalog/nearest-model.ts';

/** Models of one provider that are shown at once, and those that fit a search. */
const SHOWN = 15;
const FOUND = 40;
/** Limit for the list of all models; a message on the usual channels may have some 4,000 characters. */
const MOST_CHARACTERS = 3_000;

export const command = defineCommand({
  scope: 'owner',
  name: 'model',
  topic: 'conversation',
  help: 'list the models with prices; `/model <name>` sets the model of this chat, with `for 2` or `for all` that of others; `/model default` goes back',
  chats: 'all',
  complete: () => ['default', 'default for all'],
  isQuick: true,
  run: (context, argument) =>
    answerOrRefusal(async () => ({
      kind: 'answer',
      text: await answerTo(context, requestOf(context, wordsOf(argument))),
    })),
});

/** The outcome of looking for what the owner has typed. */
type FoundModel =
  | { readonly kind: 'found'; readonly name: string; readonly note: string }
  /** Several models fit; the owner names one. */
  | { readonly kind: 'several'; readonly names: readonly string[] }
  | { readonly kind: 'none'; readonly text: string };

const LONGEST = 250;

/**
 * Finds a model by what was typed: its whole name, the name without the prefix, or a part of it.
 *
 * A whole name that is in no list is asked for one word, since servers do not list every name that they take.
 */
async function findModel(models: ChatModels, typed: string): Promise<FoundModel> {
  if (typed.length > LONGEST) {
    return { kind: 'none', text: 'No model has so long a name. `/model` lists what there is.' };
  }
  if (models.numbersOf(typed) !== null) return await checked(models, typed);
  const names = (await models.lists('now')).flatMap((list) => list.names);
  const wanted = typed.toLowerCase();
  const whole = names.filter((name) => name.toLowerCase().endsWith(`/${wanted}`));
  const [only] = whole;
  if (only !== undefined && whole.length === 1) return { kind: 'found', name: only, note: '' };
  const fitting = names.filter((name) => name.toLowerCase().includes(wanted));
  if (fitting.length > 0) return { kind: 'several', names: fitting };
  const nearest = nearestModel(typed, names);
  const hint = nearest === null ? '`/model` lists what there is.' : `Did you mean \`${nearest}\`?`;
  return { kind: 'none', text: `No model here is called ${typed}. ${hint}` };
}

async function checked(models: ChatModels, name: string): Promise<FoundModel> {
  const listing = await models.look(name, 'now');
  if (listing.kind === 'listed') return { kind: 'found', name, note: '' };
  const problem = await models.tryOut(name);
  if (problem === null) {
    const note = listing.kind === 'missing' ? ' Its server does not list it, and it answers.' : '';
    return { kind: 'found', name, note };
  }
  const nearest = listing.kind === 'missing' ? listing.nearest : null;
  const hint = nearest === null ? '' : ` The nearest there is \`${nearest}\`.`;
  return { kind: 'none', text: `${problem}${hint} Nothing was changed.` };
}

/** The model that was typed, if any, and the chats that it is for. */
type ModelRequest = {
  readonly typed: string;
  /** Null for all chats. */
  readonly folder: string | null;
  readonly chat: string;
};

/** @throws GroupRefused where the words after `for` name no chat */
function requestOf(context: CommandContext, words: readonly Word[]): ModelRequest {
  const at = words.findIndex(({ text, isQuoted }) => text.toLowerCase() === 'for' && !isQuoted);
  const { group } = context;
  if (at === -1) return { typed: joined(words), folder: group.folder, chat: 'this chat' };
  const typed = joined(words.slice(0, at));
  const target = words.slice(at + 1);
  if (target.length === 0) throw new GroupRefused('Say for which chat: `/model <name> for 2`.');
  if (joined(target).toLowerCase() === 'all') return { typed, folder: null, chat: 'all chats' };
  const named = groupAndRest(context, target);
  if (named.rest.length > 0) throw new GroupRefused(`No chat is called ${joined(target)}.`);
  return { typed, folder: named.group.folder, chat: named.group.name };
}

async function answerTo(context: CommandContext, request: ModelRequest): Promise<string> {
  const { models } = context;
  if (request.typed === '') return await listText(context, request);
  if (request.typed.toLowerCase() === 'default') {
    models.choose(request.folder, null);
    return `Back to the default. ${chatLine(context, request)}`;
  }
  const found = await findModel(models, request.typed);
  if (found.kind === 'none') return found.text;
  if (found.kind === 'several') return severalText(context, request.typed, found.names);
  models.choose(request.folder, found.name);
  return `${chatLine(context, request)}${found.note}`;
}

function chatLine({ models }: CommandContext, { folder, chat }: ModelRequest): string {
  const model = models.of(folder);
  const numbers = numbersText(models.numbersOf(model.name));
  const origin = model.from === 'chat' ? '' : `, ${originText(model)}`;
  const head = `${chat[0]?.toUpperCase()}${chat.slice(1)}`;
  return `${head}: \`${model.name}\`${origin} (${numbers}).`;
}

async function listText(context: CommandContext, request: ModelRequest): Promise<string> {
  const lists = await context.models.lists();
  const room = { lines: SHOWN, characters: MOST_CHARACTERS / lists.length };
  const sections = lists.flatMap(({ provider, names, problem }) => {
    const lines = problem === null ? modelLines(context, names, room) : [problem];
    const left = problem === null ? names.length - lines.length : 0;
    const more = left > 0 ? [`… and ${left} more: \`/model ${provider}\``] : [];
    return ['', `**${provider}**`, ...lines, ...more];
  });
  return [
    chatLine(context, request),
    ...(await routedLine(context, request)),
    ...otherChats(context),
    ...sections,
    '',
    lists.length === 0
      ? 'None can be listed before there is a key or a server: `npx claw setup` in a shell adds one.'
      : 'Prices are for a million tokens. Say `/model <name>` for this chat, with `for <chat>` or `for all` for others, `/model default` to go back. A part of a name searches.',
  ].join('\n');
}

/** Names the models that answer in turn, where a router has another word than the owner and the settings. */
async function routedLine(
  { models, group }: CommandContext,
  { folder }: ModelRequest,
): Promise<readonly string[]> {
  if (folder !== group.folder) return [];
  const inTurn = await models.inTurn(group);
  if (inTurn.length === 0 || inTurn.join() === models.of(folder).name) return [];
  return [`Asked in turn here: ${inTurn.map((name) => `\`${name}\``).join(', ')}.`];
}

/** Other chats with a model of their own: shown where only the owner reads. */
function otherChats({ models, store, group }: CommandContext): readonly string[] {
  if (!group.isMain) return [];
  return store.groups
    .all()
    .filter(({ folder }) => folder !== group.folder && models.of(folder).from === 'chat')
    .map(({ folder, name }) => `${name}: \`${models.of(folder).name}\``);
}

function severalText(context: CommandContext, typed: string, names: readonly string[]): string {
  const lines = modelLines(context, names, { lines: FOUND, characters: MOST_CHARACTERS });
  const left = names.length - lines.length;
  return [
    `${names.length === 1 ? 'One model fits' : `${names.length} models fit`} “${typed}”. Say the whole name of one:`,
    ...lines,
    ...(left > 0 ? [`… and ${left} more`] : []),
  ].join('\n');
}

/** Returns a line for each model, as many as there is room for; one at least. */
function modelLines(
  { models }: CommandContext,
  names: readonly string[],
  room: { readonly lines: number; readonly characters: number },
): readonly string[] {
  const lines: string[] = [];
  let characters = 0;
  for (const name of names.slice(0, room.lines)) {
    const line = `- \`${name}\`: ${numbersText(models.numbersOf(name))}`;
    characters += line.length;
    if (lines.length > 0 && characters > room.characters) break;
    lines.push(line);
  }
  return lines;
}
