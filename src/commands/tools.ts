import {
  type CommandContext,
  type CompletionContext,
  defineCommand,
  type KnownTool,
} from '../host/contracts/command.ts';
import { type Word, wordsOf } from '../host/groups/command-words.ts';
import { answerOrRefusal, groupAndRest } from '../host/groups/group-command.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';
import { nearestNames } from '../lib/nearest-names.ts';
import { isSwitchedOff } from '../store/chats/folder-choices.ts';
import type { Group } from '../store/store.ts';

export const command = defineCommand({
  scope: 'owner',
  name: 'tools',
  topic: 'conversation',
  help: 'list the tools of agents in this chat; `/tools off <tool>` and `/tools on <tool>` switch one, with `for 2` in chat 2',
  chats: 'all',
  complete: completionsOf,
  isQuick: true,
  run: (context, argument) =>
    answerOrRefusal(async () => {
      const { group, words } = placeOf(context, wordsOf(argument));
      const [wanted, ...typed] = words.map(({ text }) => text);
      const text =
        wanted === undefined
          ? listText(context, group, await leftOutIn(context, group))
          : switchText(context, group, { wanted: wanted.toLowerCase(), typed });
      return { kind: 'answer', text };
    }, `tools ${argument}`),
});

/** A tool is switched in the owner's own chat; once it is typed, in others too. */
function completionsOf({ store, tools }: CompletionContext, typed: string): readonly string[] {
  const forChat = store.groups.all().map(({ name }) => `for ${name.trim()}`);
  const [switched] = /^(?:off|on) \S+(?: \S+)* (?=f?o?r?(?: .*)?$)/i.exec(typed) ?? [];
  if (switched !== undefined) return forChat.map((chat) => switched + chat);
  const off = new Set(store.groups.all().flatMap(({ folder }) => store.toolSwitches.offIn(folder)));
  const names = new Set(tools().map(({ name }) => name));
  return [
    ...forChat,
    ...[...names].map((name) => `off ${name}`),
    ...[...off].map((name) => `on ${name}`),
  ];
}

/** @throws GroupRefused where the words after `for` name no chat */
function placeOf(
  context: CommandContext,
  words: readonly Word[],
): { readonly group: Group; readonly words: readonly Word[] } {
  const at = words.findIndex(({ text, isQuoted }) => text.toLowerCase() === 'for' && !isQuoted);
  if (at === -1) return { group: context.group, words };
  const { group, rest } = groupAndRest(context, words.slice(at + 1));
  const [first] = rest;
  if (first !== undefined) throw new GroupRefused(`\`${first.text}\` after the chat is too much.`);
  return { group, words: words.slice(0, at) };
}

/** Tools that the models of a chat were not offered, by name, each with the end of a sentence. */
async function leftOutIn(
  { models }: CommandContext,
  group: Group,
): Promise<ReadonlyMap<string, string>> {
  const leftOut = (await models.inTurn(group)).flatMap((name) => models.leftOutTools(name));
  return new Map(leftOut.map(({ name, why }) => [name, why]));
}

function listText(
  context: CommandContext,
  group: Group,
  leftOut: ReadonlyMap<string, string>,
): string {
  const off = context.store.toolSwitches.offIn(group.folder);
  const usable = context.tools().filter((tool) => isUsableIn(group, tool));
  const linesOf = (wanted: KnownTool['runsIn']) =>
    usable
      .filter(({ runsIn }) => runsIn === wanted)
      .map(({ name }) => {
        const why = leftOut.get(name);
        const state = why === undefined ? '' : `: left out, because ${why}`;
        return `- \`${name}\`${isSwitchedOff(off, name) ? ': off' : state}`;
      });
  return [
    `Agents in ${group.name} can use, by way of this machine:`,
    ...linesOf('host'),
    '',
    'In their container:',
    ...linesOf('container'),
    ...goneOf(off, usable),
    '',
    'Say `/tools off <tool>` or `/tools on <tool>`, with `for <chat>` for another chat. `web_*` are all whose names begin with `web_`.',
  ].join('\n');
}

/** Switches that fit no tool there is now: they wait for it. */
function goneOf(off: readonly string[], tools: readonly KnownTool[]): readonly string[] {
  const gone = off.filter((one) => !tools.some(({ name }) => isSwitchedOff([one], name)));
  return gone.length === 0 ? [] : ['', `Off as well, should it come: ${quoted(gone)}.`];
}

function switchText(
  context: CommandContext,
  group: Group,
  { wanted, typed }: { readonly wanted: string; readonly typed: readonly string[] },
): string {
  if ((wanted !== 'off' && wanted !== 'on') || typed.length === 0) {
    throw new GroupRefused('Say `/tools`, `/tools off <tool>` or `/tools on <tool>`.');
  }
  const { toolSwitches } = context.store;
  const before = toolSwitches.offIn(group.folder);
  for (const name of typed) refuseUnknown(context, before, name);
  const after =
    wanted === 'off' ? [...before, ...typed] : before.filter((one) => !typed.includes(one));
  const held = typed.find((name) => wanted === 'on' && isSwitchedOff(after, name));
  if (held !== undefined) throw new GroupRefused(stillOff(after, held));
  toolSwitches.set(group.folder, after);
  const are = typed.length === 1 && !typed[0]?.endsWith('*') ? 'is' : 'are';
  return `${quoted(typed)} ${are} ${wanted} in ${group.name}, from the next message on.`;
}

function stillOff(off: readonly string[], name: string): string {
  const pattern = off.find((one) => isSwitchedOff([one], name));
  return `${quoted([name])} is off with \`${pattern}\`: say \`/tools on ${pattern}\`.`;
}

/** @throws GroupRefused where no tool has this name, and none that was switched off had */
function refuseUnknown({ tools }: CommandContext, off: readonly string[], typed: string): void {
  const names = tools().map(({ name }) => name);
  const isKnown = names.some((name) => isSwitchedOff([typed], name)) || off.includes(typed);
  if (isKnown || (typed.endsWith('*') && typed.length > 1)) return;
  const [nearest] = nearestNames(typed, names, 1);
  const hint = nearest === undefined ? '`/tools` lists them.' : `did you mean \`${nearest}\`?`;
  throw new GroupRefused(`There is no tool \`${typed}\`: ${hint}`);
}

function isUsableIn({ isMain }: Group, tool: KnownTool): boolean {
  return isMain || !tool.isMainOnly;
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}
