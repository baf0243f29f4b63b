import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { senderOn } from '../host/address-book.ts';
import { registeredNames } from '../host/command-completion.ts';
import { type CommandContext, defineCommand } from '../host/contracts/command.ts';
import { joined, type Word, wordsOf } from '../host/groups/command-words.ts';
import { answerOrRefusal, groupAndRest } from '../host/groups/group-command.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';
import type { Group } from '../store/store.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'allow',
  topic: 'chats',
  help: 'show who may call the assistant; `/allow 2 Ada, Bob` lets only them call it in chat 2',
  complete: (context) => registeredNames(context).map((name) => `${name} `),
  run: (context, argument) =>
    answerOrRefusal(async () => {
      const words = wordsOf(argument);
      if (words.length === 0) return { kind: 'answer', text: listOf(context) };
      const channel = context.channels().find(({ name }) => name === words[0]?.text.toLowerCase());
      const unset = channel === undefined ? notSetUp(context, words[0]?.text ?? '') : null;
      if (unset !== null) throw new GroupRefused(unset);
      const text =
        channel === undefined
          ? allowInGroup(context, words)
          : allowOnChannel(context, channel, words.slice(1));
      return { kind: 'answer', text };
    }, `allow ${argument}`),
});

function usageOf({ channels }: Pick<CommandContext, 'channels'>): string {
  const inChat =
    'Say `/allow 2 Ada, Bob` so that only they can call in that chat, `/allow 2 everybody` to lift it';
  const open = channels().find(({ isOpen }) => isOpen);
  if (open === undefined) return `${inChat}.`;
  return `${inChat}, or \`/allow ${open.name} +49 170 1234567\` for who may write directly (\`nobody\` for none).`;
}

/**
 * Returns the next step for a channel that is in the code, or could be, and does not run; null where no
 * channel is meant.
 */
function notSetUp({ registry, ...context }: CommandContext, typed: string): string | null {
  const name = typed.toLowerCase();
  const silent = context.silentChannels?.find((one) => one.name === name);
  if (silent !== undefined) {
    const unset = silent.needs.filter((setting) => !context.isSet(setting));
    const what = unset.length === 0 ? 'its settings' : unset.join(' and ');
    return `The channel ${name} is not set up yet: set ${what} in \`.env\`, or run \`npx claw setup ${name}\` in a shell, then say \`/restart\`. Who may write there is set after that.`;
  }
  const isChat = registry.list().groups.some((group) => isCalled(group, name));
  const isOffered =
    /^[a-z0-9-]+$/.test(name) && existsSync(join(context.projectDir, 'skills', name));
  if (isChat || !isOffered) return null;
  return `There is no channel ${name} yet. \`/add-${name}\` adds the skill of that name.`;
}

function isCalled({ name, folder }: Group, typed: string): boolean {
  return name.toLowerCase() === typed || folder === typed;
}

function listOf(context: CommandContext): string {
  const { store, channels } = context;
  const limited = store.groups
    .all()
    .map(({ name, jid }) => ({ name, jid, senders: store.senders.ofGroup(jid) }))
    .filter(({ senders }) => senders.length > 0)
    .map(({ name, jid, senders }) => `- in ${name}: ${named(store, jid, senders)}`);
  const direct = channels()
    .filter(({ isOpen }) => isOpen)
    .map(
      ({ name }) =>
        `- directly on ${name}: ${store.senders.ofChannel(name).join(', ') || 'nobody; only registered chats are heard'}`,
    );
  const lines = [...limited, ...direct, '- in every other registered chat: everybody in it'];
  return `Who may call the assistant:\n\n${lines.join('\n')}\n\n${usageOf(context)}`;
}

function allowInGroup(context: CommandContext, words: readonly Word[]): string {
  const { group, rest } = groupAndRest(context, words);
  const { name, jid, isMain } = group;
  if (isMain) throw new GroupRefused('In your own chat, only you can talk to the assistant.');
  if (rest.length === 0) throw new GroupRefused(usageOf(context));
  if (isWord(rest, 'everybody')) {
    context.store.senders.limitGroup(jid, []);
    return `Everybody in ${name} may call the assistant.`;
  }
  const senders = itemsOf(rest).map((typed) => senderIn(context, group, typed));
  context.store.senders.limitGroup(jid, senders);
  return `In ${name} only these may call, and you: ${named(context.store, jid, senders)}. What others say there is context.`;
}

type ChannelReport = ReturnType<CommandContext['channels']>[number];

function allowOnChannel(
  context: CommandContext,
  channel: ChannelReport,
  rest: readonly Word[],
): string {
  const { name, isOpen } = channel;
  if (!isOpen) throw new GroupRefused(closedAnswer(channel, rest));
  if (rest.length === 0) throw new GroupRefused(usageOf(context));
  const isNobody = isWord(rest, 'nobody');
  const senders = isNobody ? [] : itemsOf(rest).map((typed) => senderOn(channel, typed));
  context.store.senders.setChannel(name, senders);
  const registered = 'Registered chats stay registered; `/unregister` takes one out.';
  return isNobody
    ? `From now on no other person may write directly on ${name}. ${registered}`
    : `These may write directly on ${name}: ${senders.join(', ')}. ${registered}`;
}

/** Says where the list of a channel is that is not kept here, and what to add; never an address that could be another's. */
function closedAnswer(
  { name, allowSetting, missingIn, personOf }: ChannelReport,
  rest: readonly Word[],
): string {
  if (allowSetting === null) return `On ${name} only you can write.`;
  const where = `Who may write on ${name} is the setting ${allowSetting} in \`.env\``;
  const missing = itemsOf(rest).flatMap((typed) => missingIn(typed) ?? []);
  if (missing[0] !== undefined) return `${missing[0]} ${where}.`;
  const said = itemsOf(rest).map((typed) => personOf?.(typed)?.sender ?? typed);
  return `${where}: add ${said.join(', ') || 'them'} there, then say \`/restart\`.`;
}

/** Addresses as people know them: what each called themselves last, and the address that counts. */
function named(
  { messages }: CommandContext['store'],
  jid: string,
  senders: readonly string[],
): string {
  const known = new Map(messages.sendersOf(jid).map(({ sender, name }) => [sender, name]));
  return senders
    .map((sender) => (known.get(sender) ? `${known.get(sender)} (${sender})` : sender))
    .join(', ');
}

function isWord(words: readonly Word[], wanted: string): boolean {
  const [only, another] = words;
  return another === undefined && !only?.isQuoted && only?.text.toLowerCase() === wanted;
}

/** Splits names and numbers at commas, so that both can have spaces. */
function itemsOf(words: readonly Word[]): readonly string[] {
  const items = joined(words)
    .split(',')
    .map((item) => item.trim());
  return items.filter((item) => item !== '');
}

/** Tells whether a person has a chat of their own with the assistant. */
function hasWritten(
  { store: { chats } }: CommandContext,
  { channel, sender, chat }: ReturnType<CommandContext['peopleOf']>[number],
): boolean {
  return (chat === null ? chats.directWith(channel, sender) : chats.byJid(chat)) !== null;
}

/** Returns the address of a person in a chat. The name is not stored, since people can give themselves any. */
function senderIn(context: CommandContext, { jid, name }: Group, typed: string): string {
  const senders = context.store.messages.sendersOf(jid);
  const found = senders.filter(
    (one) => one.sender === typed || one.name?.toLowerCase() === typed.toLowerCase(),
  );
  const [only, another] = found;
  if (only !== undefined && another === undefined) return only.sender;
  const channel = context.store.chats.byJid(jid)?.channel;
  const person = context.peopleOf(typed).find((one) => one.channel === channel);
  if (person !== undefined && (person.isGuess !== true || hasWritten(context, person))) {
    return person.sender;
  }
  const report = context.channels().find((one) => one.name === channel);
  const missing = another === undefined ? (report?.missingIn(typed) ?? null) : null;
  if (missing !== null) throw new GroupRefused(missing);
  const known = (another === undefined ? senders : found)
    .map((one) => `${one.name ?? '?'} is ${one.sender}`)
    .join(', ');
  throw new GroupRefused(
    another === undefined
      ? `Nobody called ${typed} has written in ${name}. ${known === '' ? 'Nobody has yet.' : `There are: ${known}.`}`
      : `Several in ${name} are called ${typed}: ${known}. Say the address instead.`,
  );
}
