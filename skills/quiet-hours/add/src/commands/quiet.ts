import { type CommandContext, defineCommand } from '../host/contracts/command.ts';
import { joined, type Word, wordsOf } from '../host/groups/command-words.ts';
import { answerOrRefusal, groupAndRest } from '../host/groups/group-command.ts';
import { GroupRefused } from '../host/groups/group-refused.ts';
import { parseDuration } from '../host/scheduler/duration.ts';
import { localTime } from '../host/scheduler/local-time.ts';
import { TaskRefused } from '../host/scheduler/task-refused.ts';
import { checkTimeZone } from '../host/scheduler/time-zone.ts';
import { describeHours, parseHours } from '../lib/quiet-hours/hours.ts';
import {
  isQuiet,
  NO_RULE,
  type QuietBook,
  type QuietRule,
  quietChats,
  readQuietBook,
  ruleFor,
  writeQuietBook,
} from '../store/quiet-hours.ts';

const USAGE = [
  '- `/quiet 22:00-7:00` every day; `/quiet weekdays 22:00-7:00`, `/quiet weekends 23:00-9:30`, `/quiet weekends all day`, `/quiet weekends off`; `in Europe/Berlin` behind it names a time zone',
  '- `/quiet now 2h` from now on; `/quiet off` ends it; `/quiet default` in a group: as in all chats',
  '- `/quiet urgent word alarm`, `/quiet urgent task 3`, `/quiet urgent none`: what is sent all the same',
  'In a group it is for that group, in your own chat for all. From your own chat for one: `/quiet 2 22:00-7:00`.',
].join('\n');
const LONGEST_PAUSE_MS = 31 * 86_400_000;
const KEYWORD =
  /^(?:now|off|default|urgent|weekdays?|weekends?|all|every|daily|\d{1,2}(?::\d\d)?\s*[-–].*)$/i;

export const command = defineCommand({
  scope: 'owner',
  name: 'quiet',
  topic: 'chats',
  help: 'set hours in which I do not speak first: `/quiet 22:00-7:00`, `/quiet now 2h`, `/quiet off`, or `/quiet 2 …` for chat 2',
  chats: 'all',
  isQuick: true,
  complete: () => ['22:00-7:00', 'now 2h', 'off', 'default', 'weekdays ', 'weekends ', 'urgent '],
  run: (context, argument) =>
    answerOrRefusal(async () => {
      try {
        return { kind: 'answer', text: done(context, wordsOf(argument)) };
      } catch (error) {
        if (error instanceof TaskRefused) throw new GroupRefused(error.message);
        throw error;
      }
    }, `quiet ${argument}`),
});

function done(context: CommandContext, words: readonly Word[]): string {
  if (words.length === 0) return statusOf(context);
  const [first] = words;
  if (first !== undefined && /^urgent$/i.test(first.text)) {
    return urgent(context, words.slice(1));
  }
  const { folder, rest } = scopeOf(context, words);
  const book = readQuietBook(context.store.meta);
  const next = changed(context, book, { folder, said: joined(rest).trim() });
  writeQuietBook(context.store.meta, next);
  return statusOf(context);
}

/** Returns the folder of the chat that is meant, null for all chats, and the words after its name. */
function scopeOf(
  context: CommandContext,
  words: readonly Word[],
): { readonly folder: string | null; readonly rest: readonly Word[] } {
  const { group } = context;
  const isKeyword = KEYWORD.test(words[0]?.text ?? '');
  if (isKeyword) return { folder: group.isMain ? null : group.folder, rest: words };
  if (!group.isMain) throw new GroupRefused(USAGE);
  const named = groupAndRest(context, words);
  return { folder: named.group.folder, rest: named.rest };
}

type Wanted = { readonly folder: string | null; readonly said: string };

function changed(context: CommandContext, book: QuietBook, { folder, said }: Wanted): QuietBook {
  const { store } = context;
  // A folder may be another chat's one day.
  const known = new Set(store.groups.all().map((group) => group.folder));
  const chats = Object.fromEntries(
    Object.entries(book.chats).filter(([name]) => known.has(name) && name !== folder),
  );
  const own = folder === null ? book.all : ownRule(book, folder);
  if (/^default$/i.test(said)) {
    return folder === null ? { ...book, chats, all: NO_RULE } : { ...book, chats };
  }
  const rule = ruleAfter(context, { own, common: book.all, said });
  return folder === null
    ? { ...book, chats, all: rule }
    : { ...book, chats: { ...chats, [folder]: rule } };
}

function ownRule({ chats }: QuietBook, folder: string): QuietRule {
  return (Object.hasOwn(chats, folder) ? chats[folder] : undefined) ?? NO_RULE;
}

type Before = { readonly own: QuietRule; readonly common: QuietRule; readonly said: string };

/** @throws GroupRefused with the usage, TaskRefused where the time zone is none */
function ruleAfter({ now, tasks }: CommandContext, { own, common, said }: Before): QuietRule {
  const before = own.hours ?? common.hours;
  const timeZone = before?.timeZone ?? tasks.timeZone;
  if (/^off$/i.test(said)) return { hours: { weekdays: null, weekends: null, timeZone }, until: 0 };
  const [, pause] = /^now\s+(?:for\s+)?(.+)$/i.exec(said) ?? [];
  if (pause !== undefined) {
    const ms = parseDuration(pause);
    if (ms === null || ms <= 0 || ms > LONGEST_PAUSE_MS) {
      throw new GroupRefused('Say how long, up to 31 days: `/quiet now 2h`.');
    }
    return { ...own, until: now() + ms };
  }
  const [, days, times = '', zone] =
    /^(?:(weekdays?|weekends?|every day|daily)\s+)?(.+?)(?:\s+in\s+(\S.*))?$/i.exec(said) ?? [];
  const hours = /^off$/i.test(times) ? null : parseHours(times);
  if (hours === null && !/^off$/i.test(times)) throw new GroupRefused(USAGE);
  const which = days?.toLowerCase() ?? 'every day';
  return {
    hours: {
      weekdays: which.startsWith('weekend') ? (before?.weekdays ?? null) : hours,
      weekends: which.startsWith('weekday') ? (before?.weekends ?? null) : hours,
      timeZone: zone === undefined ? timeZone : checkTimeZone(zone.trim()),
    },
    until: own.until,
  };
}

function urgent({ store, group }: CommandContext, words: readonly Word[]): string {
  if (!group.isMain) throw new GroupRefused('Say that in your own chat: it is for all chats.');
  const book = readQuietBook(store.meta);
  const [kind = '', ...rest] = words.map(({ text }) => text);
  const what = rest.join(' ').trim();
  const number = Number(/^#?(\d{1,9})$/.exec(what)?.[1] ?? Number.NaN);
  if (/^none$/i.test(kind)) {
    writeQuietBook(store.meta, { ...book, urgentWords: [], urgentTasks: [] });
  } else if (/^word$/i.test(kind) && what.length > 1 && what.length <= 100) {
    const urgentWords = [...new Set([...book.urgentWords, what.toLowerCase()])].slice(-50);
    writeQuietBook(store.meta, { ...book, urgentWords });
  } else if (/^task$/i.test(kind) && store.tasks.byId(number) !== null) {
    const urgentTasks = [...new Set([...book.urgentTasks, number])].slice(-200);
    writeQuietBook(store.meta, { ...book, urgentTasks });
  } else {
    throw new GroupRefused(
      'Say `/quiet urgent word alarm`, `/quiet urgent task 3` with the number that `/tasks` shows, or `/quiet urgent none`.',
    );
  }
  return urgentLine(readQuietBook(store.meta));
}

function urgentLine({ urgentWords, urgentTasks }: QuietBook): string {
  const parts = [
    ...urgentWords.map((word) => `“${word}” in your own chats`),
    ...urgentTasks.map((task) => `task ${task}`),
  ];
  return parts.length === 0
    ? 'Nothing counts as urgent.'
    : `Sent all the same: ${parts.join(', ')}.`;
}

function statusOf(context: CommandContext): string {
  const { store, now, group, tasks } = context;
  const book = readQuietBook(store.meta);
  const waiting = store.outbox.holding.counted(quietChats(store, now()));
  const lineOf = (name: string, rule: QuietRule, jids: readonly string[]) => {
    const held = waiting.filter(({ jid }) => jids.includes(jid));
    const count = held.reduce((sum, { messages }) => sum + messages, 0);
    const state = isQuiet(rule, now()) ? ', quiet now' : '';
    const waits =
      count === 0 ? '' : `, ${count} ${count === 1 ? 'message waits' : 'messages wait'}`;
    return `- ${name}: ${ruleInWords(rule, now(), tasks.timeZone)}${state}${waits}`;
  };
  if (!group.isMain) {
    return [lineOf(group.name, ruleFor(book, group.folder), [group.jid]), '', USAGE].join('\n');
  }
  const groups = store.groups.all();
  const own = groups.filter(
    ({ folder }, at) =>
      Object.hasOwn(book.chats, folder) &&
      groups.findIndex((other) => other.folder === folder) === at,
  );
  const others = groups.filter(({ folder }) => !Object.hasOwn(book.chats, folder));
  return [
    lineOf(
      'all chats',
      book.all,
      others.map(({ jid }) => jid),
    ),
    ...own.map(({ name, folder, isMain }) =>
      lineOf(
        isMain ? 'your own chats' : name,
        ruleFor(book, folder),
        groups.filter((other) => other.folder === folder).map(({ jid }) => jid),
      ),
    ),
    '',
    urgentLine(book),
    '',
    USAGE,
  ].join('\n');
}

/** Returns a rule in words: `22:00–07:00 (Europe/Berlin)`. */
function ruleInWords({ hours, until }: QuietRule, now: number, timeZone: string): string {
  const week = hoursInWords(hours);
  return until !== null && until > now
    ? `quiet until ${localTime(until, timeZone)}; ${week}`
    : week;
}

function hoursInWords(hours: QuietRule['hours']): string {
  if (hours === null || (hours.weekdays === null && hours.weekends === null))
    return 'no quiet hours';
  const { weekdays, weekends, timeZone } = hours;
  const [first, second] = [weekdays, weekends].map((day) =>
    day === null ? 'none' : describeHours(day),
  );
  const days = first === second ? `${first} every day` : `weekdays ${first}, weekends ${second}`;
  return `${days} (${timeZone})`;
}
