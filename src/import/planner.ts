import { createHash } from 'node:crypto';
import { folderNameFor } from '../host/groups/folder-name.ts';
import { triggerProblem } from '../host/groups/trigger.ts';
import { describeDuration } from '../host/scheduler/duration.ts';
import { nextRunAfter } from '../host/scheduler/schedule.ts';
import { TaskRefused } from '../host/scheduler/task-refused.ts';
import { shortened } from '../lib/graphemes.ts';
import type { TaskSchedule } from '../store/store.ts';
import { quoted } from './env-settings.ts';
import type {
  Product,
  SourceFile,
  SourceGroup,
  SourceState,
  SourceTask,
} from './imported-items.ts';
import {
  type Decisions,
  type Here,
  type Plan,
  type PlanLine,
  type PlannedFile,
  type PlannedGroup,
  type PlannedTask,
  saidItem,
  titleOf,
} from './plan.ts';

/** A sender that no channel has: a group limited to it answers its owner alone. */
const NOBODY_YET = 'nobody-yet';

/** Decides what to do with everything in a source. Pure: the same source and state give the same plan. */
export function planImport(
  source: SourceState,
  place: string,
  here: Here,
  decisions: Decisions,
): Plan {
  const { product, version, chats } = source;
  const newMessages = countNew(source, here);
  const lines: PlanLine[] = [];
  const warnings: string[] = [];
  const say = (kind: PlanLine['kind'], what: string, text: string) =>
    lines.push({ kind, what, text });
  const item = (kind: string, id: string) => `${product}:${kind}:${id}`;
  /** Files and settings have no id of their own: their place is part of it. */
  const placed = (kind: string, id: string) => item(kind, `${place}|${id}`);

  const { groups, folders } = planGroups(source, here, item, say);
  if (newMessages > 0) {
    const history = planned(newMessages, 'message');
    say('comes', 'history', `${history}, searchable, with authors and times`);
  }
  const tasks = planTasks(source, { here, decisions, folders, item, say });
  const files = planFiles(source, { root: place, here, folders, placed, say });
  const settings = planSettings(source, { here, decisions, placed, say });
  const link = planLink(source, { here, decisions, item, say });
  for (const { what, why } of source.leftBehind) say('stays', what, why);
  for (const { what, text } of source.code?.notes ?? []) say('code', what, text);
  if (source.settings.some(({ channel }) => channel !== null) || source.link !== null) {
    warnings.push(
      `One login serves one assistant. If ${titleOf(product)} starts again after this, both answer, or each ends the other's connection.`,
    );
  }
  return {
    ...{ product, version, chats, groups, folders, ...tasks, files, settings, link },
    groupChats: source.groups.filter(({ jid }) => groups.some((group) => group.jid === jid)),
    ...{ newMessages, lines, warnings, codeBase: source.code?.base ?? null },
  };
}

type Say = (kind: PlanLine['kind'], what: string, text: string) => void;
type Name = (kind: string, id: string) => string;

function planGroups(
  { groups, product }: SourceState,
  here: Here,
  item: Name,
  say: Say,
): Pick<Plan, 'groups' | 'folders'> {
  const folders = new Map<string, string>([['', 'global']]);
  const taken = new Set<string>();
  const planned: PlannedGroup[] = [];
  for (const group of groups) {
    const name = group.name ?? group.jid;
    const existing = here.groups.find(({ jid }) => jid === group.jid);
    const earlier = here.item(item('group', group.jid));
    if (earlier !== undefined || existing !== undefined) {
      const folder = existing?.folder ?? earlier ?? 'main';
      if (!folders.has(group.folder)) folders.set(group.folder, folder);
      if (earlier === undefined) {
        say('stays', name, `registered here already, as groups/${folder}; its settings stay`);
      }
      continue;
    }
    const main = here.groups.find((one) => one.isMain && one.channel === group.channel);
    if (group.isMain && main !== undefined) {
      folders.set(group.folder, 'main');
      say(
        'stays',
        name,
        `you have a chat of your own on ${group.channel} here; its memory comes into groups/main`,
      );
      continue;
    }
    const isTaken = (one: string) => taken.has(one) || here.isFolderTaken(one);
    const folder = group.isMain
      ? 'main'
      : (here.folderOf(group.jid) ??
        folderNameFor(group.channel, group.jid, isTaken, group.folder));
    taken.add(folder);
    if (!folders.has(group.folder)) folders.set(group.folder, folder);
    const made = plannedGroup(group, folder, here, item('group', group.jid));
    planned.push(made.group);
    const where =
      folder === group.folder ? `groups/${folder}` : `groups/${folder} (was ${group.folder})`;
    say(made.notes.length === 0 ? 'comes' : 'changes', name, [where, ...made.notes].join('; '));
  }
  if (groups.length === 0) say('stays', 'groups', `${titleOf(product)} has no registered chat`);
  return { groups: planned, folders };
}

function plannedGroup(
  source: SourceGroup,
  folder: string,
  here: Here,
  item: string,
): { readonly group: PlannedGroup; readonly notes: readonly string[] } {
  const { jid, isMain, isDirect, allow } = source;
  const word = source.triggerWord?.trim() || null;
  const problem = word === null ? null : triggerProblem(word);
  const isByName = word === null || problem !== null || word === `@${here.assistantName}`;
  const isLimited = !isMain && !isDirect;
  const isAsked = isLimited && (allow === null || allow.length === 0);
  const senders = !isLimited || allow === 'everybody' ? [] : isAsked ? [NOBODY_YET] : (allow ?? []);
  const needsTrigger = !isMain && source.needsTrigger;
  return {
    group: {
      ...{ item, jid, folder, isMain, senders, needsTrigger },
      name: source.name ?? jid,
      triggerWord: !needsTrigger || isByName ? null : word,
    },
    notes: [
      ...(problem === null ? [] : [`it answers to its name: the trigger "${word}" cannot be used`]),
      ...(isAsked
        ? [`only you may call it until you say who: \`/allow ${folder} everybody\`, or names`]
        : []),
    ],
  };
}

function planTasks(
  source: SourceState,
  context: {
    readonly here: Here;
    readonly decisions: Decisions;
    readonly folders: Plan['folders'];
    readonly item: Name;
    readonly say: Say;
  },
): Pick<Plan, 'tasks' | 'tasksToStart'> {
  const { here, decisions, folders, item, say } = context;
  const tasks: PlannedTask[] = [];
  const tasksToStart: Plan['tasksToStart'][number][] = [];
  let count = 0;
  let waiting = 0;
  for (const task of source.tasks) {
    const name = item('task', task.id);
    const earlier = here.item(name);
    const fitted = fittedSchedule(task, here.now);
    if (earlier !== undefined) {
      const id = Number(earlier);
      const isStarted = here.item(item('task-start', task.id)) !== undefined;
      const isWaiting = task.state === 'active' && !isStarted && here.isTaskWaiting(id);
      if (fitted.kind === 'refused' || !isWaiting) continue;
      if (decisions.isTakeOver) {
        const nextRun = nextTime(fitted.schedule, task, here.now);
        if (nextRun !== null) tasksToStart.push({ item: item('task-start', task.id), id, nextRun });
      } else waiting += 1;
      continue;
    }
    const what = `task ${task.name ?? shortPrompt(task.prompt)}`;
    const folder = task.folder === null ? 'main' : folders.get(task.folder);
    if (folder === undefined || folder === 'global') {
      say('stays', what, `its chat ${task.folder ?? ''} is not registered there`);
      continue;
    }
    if (fitted.kind === 'refused') {
      say('stays', what, fitted.why);
      continue;
    }
    const notes = [...fitted.notes, ...(task.lost === null ? [] : [task.lost])];
    if (notes.length > 0) say('changes', what, notes.join('; '));
    const nextRun = task.state === 'active' ? nextTime(fitted.schedule, task, here.now) : null;
    const isPast = task.state === 'active' && nextRun === null;
    if (isPast) say('stays', what, 'its time has passed; it comes as finished');
    const isDue = task.state === 'active' && !isPast;
    const isWaiting = isDue && !decisions.isTakeOver;
    count += 1;
    if (isWaiting) waiting += 1;
    tasks.push({
      ...{ item: name, source: task, folder, schedule: fitted.schedule, isWaiting },
      state: isPast ? 'done' : isWaiting ? 'paused' : task.state,
      nextRun: isDue && !isWaiting ? nextRun : null,
    });
  }
  if (count > 0) say('comes', 'tasks', `${planned(count, 'task')}, with time zone and last runs`);
  if (tasksToStart.length > 0)
    say('comes', 'tasks', `${planned(tasksToStart.length, 'task')} that waited start`);
  if (waiting > 0) say('waits', 'tasks', `${planned(waiting, 'task')} paused until --take-over`);
  return { tasks, tasksToStart };
}

type ScheduleFit =
  | { readonly kind: 'fits'; readonly schedule: TaskSchedule; readonly notes: readonly string[] }
  | { readonly kind: 'refused'; readonly why: string };

const MINUTE_MS = 60_000;

function fittedSchedule({ schedule, nextRun, createdAt }: SourceTask, now: number): ScheduleFit {
  const anchor = nextRun ?? createdAt ?? now;
  const { timeZone } = schedule;
  const fits = (made: TaskSchedule, notes: readonly string[] = []): ScheduleFit => {
    try {
      // Also one that never comes again is a task; one that cannot be read is none.
      nextRunAfter(made, now);
      return { kind: 'fits', schedule: made, notes };
    } catch (error) {
      if (error instanceof TaskRefused || error instanceof RangeError) {
        return { kind: 'refused', why: `its schedule cannot be read: ${error.message}` };
      }
      throw error;
    }
  };
  if (schedule.kind === 'cron') {
    return fits({ kind: 'cron', text: schedule.pattern, timeZone, anchor });
  }
  if (schedule.kind === 'at') {
    const text = new Date(schedule.at).toISOString();
    return fits({ kind: 'at', text, timeZone, anchor: schedule.at });
  }
  const { everyMs } = schedule;
  if (!Number.isFinite(everyMs) || everyMs <= 0) {
    return { kind: 'refused', why: 'its interval cannot be read' };
  }
  const rounded = Math.max(MINUTE_MS, Math.round(everyMs / MINUTE_MS) * MINUTE_MS);
  const text = describeDuration(rounded);
  const notes = rounded === everyMs ? [] : [`it runs every ${text}: tasks go by whole minutes`];
  return fits({ kind: 'every', text, timeZone, anchor }, notes);
}

function nextTime(schedule: TaskSchedule, task: SourceTask, now: number): number | null {
  return task.nextRun !== null && task.nextRun > now ? task.nextRun : nextRunAfter(schedule, now);
}

function planFiles(
  source: SourceState,
  context: {
    readonly root: string;
    readonly here: Here;
    readonly folders: Plan['folders'];
    readonly placed: Name;
    readonly say: Say;
  },
): Plan['files'] {
  const { root, here, folders, placed, say } = context;
  const files: PlannedFile[] = [];
  const counts = new Map<string, number>();
  const used = new Set<string>();
  const skills = new Set<string>();
  const title = titleOf(source.product);
  for (const file of source.files) {
    const name = placed(
      'file',
      `${file.folder ?? ''}/${file.path}${file.key === undefined ? '' : `#${file.key}`}`,
    );
    if (here.item(name) !== undefined) continue;
    const folder = folders.get(file.folder ?? '');
    if (folder === undefined) continue;
    const wanted = `groups/${folder}/${file.path}`;
    const found = freePath(wanted, file, { here, used, product: source.product });
    if (found === 'same') continue;
    if (found === 'blocked') {
      say('stays', wanted, 'a link or a folder is in its place here');
      continue;
    }
    const isText = file.kind === 'memory' || file.kind === 'persona';
    const isAppended = isText && (here.digest(wanted) !== null || used.has(wanted));
    used.add(isAppended ? wanted : found);
    files.push({
      item: name,
      path: isAppended ? wanted : found,
      content: file.content,
      appendUnder: isAppended
        ? file.kind === 'persona'
          ? `# Who you are (from ${title})`
          : `# Memory from ${title}`
        : null,
    });
    if (isAppended) say('changes', wanted, `the text from ${title} is added at its end`);
    else if (found !== wanted)
      say('changes', wanted, `it has this name here already: comes as ${found}`);
    if (file.kind === 'skill') skills.add(`${folder}/${file.path.split('/')[1] ?? ''}`);
    else counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  for (const [folder, count] of counts) {
    say('comes', `groups/${folder}`, planned(count, 'file'));
  }
  const [first = '', ...more] = files.flatMap(({ content }) =>
    content.kind === 'copy' && !content.from.startsWith(`${root}/`) ? [content.from] : [],
  );
  if (first !== '') {
    const others = more.length === 0 ? '' : ` and ${planned(more.length, 'more file')}`;
    say('comes', `${first}${others}`, `lies outside of ${root}: its settings name that folder`);
  }
  if (skills.size > 0) {
    const text = `${planned(skills.size, 'skill')} into groups/<chat>/skills; \`npx claw apply agent-skills\` lets agents use them`;
    say('comes', 'skills', text);
  }
  return files;
}

function freePath(
  wanted: string,
  { kind, content }: SourceFile,
  {
    here,
    used,
    product,
  }: { readonly here: Here; readonly used: ReadonlySet<string>; readonly product: Product },
): string {
  const digest = here.digest(wanted);
  if (digest === 'blocked') return 'blocked';
  if (content.kind === 'bytes' && digest === digestOf(content.bytes)) return 'same';
  if ((digest === null && !used.has(wanted)) || kind === 'memory' || kind === 'persona')
    return wanted;
  const dot = wanted.lastIndexOf('.');
  const at = dot > wanted.lastIndexOf('/') + 1 ? dot : wanted.length;
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? `-from-${product}` : `-from-${product}-${number}`;
    const path = `${wanted.slice(0, at)}${suffix}${wanted.slice(at)}`;
    if (here.digest(path) === null && !used.has(path)) return path;
  }
}

/** Computes the digest of a file's bytes. */
function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

type Owned = {
  readonly here: Here;
  readonly decisions: Decisions;
  readonly say: Say;
};

function planSettings(
  source: SourceState,
  { here, decisions, placed, say }: Owned & { readonly placed: Name },
): Plan['settings'] {
  const taken: Plan['settings'][number][] = [];
  for (const setting of source.settings) {
    const { name, value, isSecret, channel } = setting;
    const id = placed('setting', name);
    if (here.item(id) !== undefined) continue;
    const now = here.env[name];
    if (now !== undefined && now !== '') {
      if (now !== value) say('stays', name, '.env has another value here, which stays');
    } else if (quoted(value) === null) {
      say('stays', name, 'no quotes can hold its value; write it into .env yourself');
    } else if (channel !== null && !decisions.isTakeOver) {
      say(
        'waits',
        name,
        `${channel} stays off until --take-over: two assistants cannot use one login`,
      );
    } else {
      taken.push({ ...setting, item: id });
      say('comes', name, isSecret ? 'a key, into .env, after you agree' : `into .env: ${value}`);
    }
  }
  return taken;
}

function planLink(
  { link }: SourceState,
  { here, decisions, item, say }: Owned & { readonly item: Name },
): Plan['link'] {
  if (link === null) return null;
  const id = item('link', link.phoneNumber ?? '');
  if (here.item(id) !== undefined) return null;
  const account = link.phoneNumber === null ? '' : ` as +${link.phoneNumber}`;
  if (here.linkedAs !== null) {
    say('stays', 'the link to WhatsApp', `this assistant is linked already, as +${here.linkedAs}`);
    return null;
  }
  if (!decisions.isTakeOver) {
    say('waits', 'the link to WhatsApp', `linked${account}; WhatsApp stays off until --take-over`);
    return null;
  }
  say('comes', 'the link to WhatsApp', `linked${account}, without pairing again`);
  return { ...link, item: id };
}

function shortPrompt(prompt: string): string {
  const [first = ''] = prompt.split('\n');
  return `"${shortened(first, 40)}"`;
}

function planned(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function countNew(source: SourceState, here: Here): number {
  let count = 0;
  for (const message of source.messages()) {
    if (here.item(saidItem(source.product, message)) === undefined) count += 1;
  }
  return count;
}
