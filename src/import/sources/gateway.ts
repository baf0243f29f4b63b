import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonWithin, MESSENGER_BOUNDS } from '../../lib/bounded-json.ts';
import { text } from '../../lib/bounded-schema.ts';
import { settingOf } from '../env-settings.ts';
import type {
  LeftBehind,
  SourceChat,
  SourceFile,
  SourceMessage,
  SourceSetting,
  SourceTask,
} from '../imported-items.ts';
import { copiesOf, filesBelow, isFile, skillsIn } from '../source-files.ts';

/**
 * What OpenClaw, Hermes, nanobot and clawft share: a gateway that keeps a session for each conversation, a workspace with
 * well-known Markdown files, and a list of cron jobs.
 */

/** A conversation by the gateway's own names. */
export type Peer = {
  readonly channel: string;
  readonly kind: 'direct' | 'group';
  readonly id: string;
  readonly name: string | null;
};

/** Names a chat by the address that it has here. */
export function chatOfPeer({ channel, kind, id, name }: Peer): SourceChat {
  // A topic or thread is a part of its chat.
  const plain = id.replace(/:(topic|thread):.*$/s, '').replace(/^(channel|group|user):/, '');
  const isDirect = kind === 'direct';
  if (channel !== 'whatsapp') {
    const known = channel === 'slack' ? plain.toUpperCase() : plain;
    return { jid: `${channel}:${known}`, channel, name, isDirect };
  }
  const jid = plain.includes('@') ? plain : `${plain.replace(/\D/g, '')}@s.whatsapp.net`;
  return { jid, channel, name, isDirect };
}

/** Reads a sender of an allow-list by the id that the channel gives it here. */
export function senderOfPeer(channel: string, listed: string): string {
  const plain = listed.replace(/^(tg|telegram|discord|slack|signal|whatsapp):/, '').trim();
  return channel === 'whatsapp' && !plain.includes('@')
    ? `${plain.replace(/\D/g, '')}@s.whatsapp.net`
    : plain;
}

const Part = z.looseObject({ type: text(100).optional(), text: text().optional() });
const Body = z.union([text(), z.array(z.unknown())]).nullish();

/** The words of a message, which is a text or a list of parts. */
export function wordsOf(content: unknown): string {
  const body = Body.safeParse(content).data;
  if (typeof body === 'string') return body;
  return (body ?? [])
    .flatMap((part) => Part.safeParse(part).data?.text ?? [])
    .join('\n')
    .trim();
}

/** Reads the lines of a JSONL file; a cut or foreign line is left out. */
export function* jsonLines(path: string): Iterable<unknown> {
  if (!existsSync(path)) return;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const value = line.trim() === '' ? undefined : jsonWithin(line, MESSENGER_BOUNDS);
    if (value !== undefined) yield value;
  }
}

/** Something that a gateway wrote down, before it is a message here. */
export type Entry = {
  readonly id: string;
  readonly role: string;
  readonly content: unknown;
  readonly at: number;
};

/** A gateway puts this before what a person wrote: `[WhatsApp Family +49… 2026-01-01 10:00] Ben: text`. */
const ENVELOPE = /^\[[^\]\n]{3,200}\]\s*/;
const AUTHOR = /^([^\n:]{1,60}): /;

/** Makes a message from an entry; null for tool results, notes of the gateway and entries without words. */
export function messageOf(chat: SourceChat, entry: Entry, isMain: boolean): SourceMessage | null {
  const { id, role, at } = entry;
  const words = wordsOf(entry.content);
  if (words === '' || (role !== 'user' && role !== 'assistant')) return null;
  const common = { jid: chat.jid, id, at };
  if (role === 'assistant') {
    return { ...common, sender: null, senderName: null, isOwner: false, text: words };
  }
  const said = words.replace(ENVELOPE, '');
  const author = chat.isDirect ? null : (AUTHOR.exec(said)?.[1] ?? null);
  return {
    ...common,
    sender: author ?? (chat.isDirect ? chat.jid : 'unknown'),
    senderName: author ?? chat.name,
    isOwner: isMain,
    text: author === null ? said : said.slice(author.length + 2),
  };
}

/** Reads a moment written as ISO text, seconds or milliseconds; null if it is none of these. */
export function momentOfAny(value: unknown): number | null {
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) {
    return Math.round(value < 100_000_000_000 ? value * 1_000 : value);
  }
  const moment = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(moment) ? null : moment;
}

const Num = z.number().nullish();
const Txt = text().nullish();
const Job = z.looseObject({
  id: z.union([text(200), z.number()]),
  name: Txt,
  enabled: z.boolean().nullish(),
  createdAtMs: Num,
  schedule: z
    .looseObject({
      kind: text(50),
      expr: Txt,
      tz: Txt,
      everyMs: Num,
      anchorMs: Num,
      at: z.union([text(), z.number()]).nullish(),
      atMs: z.union([text(), z.number()]).nullish(),
    })
    .nullish(),
  sessionTarget: Txt,
  payload: z.looseObject({ message: Txt, text: Txt, channel: Txt, to: Txt }).nullish(),
  delivery: z.looseObject({ channel: Txt, to: Txt }).nullish(),
  state: z.looseObject({ nextRunAtMs: Num, lastRunAtMs: Num }).nullish(),
});
const Jobs = z.looseObject({ jobs: z.array(z.unknown()).max(10_000) });

/** Where a task of a gateway answers, by channel and address; null for the owner's own chat. */
export type Delivery = { readonly channel: string; readonly to: string } | null;

/** Reads `cron/jobs.json`, and rows of a database that were made into the same shape. */
export function tasksOfJobs(
  value: unknown,
  timeZone: string,
  folderOf: (delivery: Delivery) => string | null,
): { readonly tasks: readonly SourceTask[]; readonly leftBehind: readonly LeftBehind[] } {
  const jobs = Jobs.safeParse(camelCased(value)).data?.jobs ?? [];
  const tasks: SourceTask[] = [];
  const leftBehind: LeftBehind[] = [];
  for (const raw of jobs) {
    const job = Job.safeParse(raw).data;
    const task = job === undefined ? null : taskOf(job, timeZone, folderOf);
    if (task !== null) tasks.push(task);
    else leftBehind.push({ what: 'a cron job', why: 'its prompt or schedule cannot be read' });
  }
  return { tasks, leftBehind };
}

function taskOf(
  job: z.output<typeof Job>,
  timeZone: string,
  folderOf: (delivery: Delivery) => string | null,
): SourceTask | null {
  const prompt = job.payload?.message ?? job.payload?.text ?? '';
  const schedule = scheduleOf(job.schedule ?? null, timeZone);
  if (prompt === '' || schedule === null) return null;
  const channel = job.delivery?.channel ?? job.payload?.channel;
  const to = job.delivery?.to ?? job.payload?.to;
  const isEnabled = job.enabled !== false;
  const nextRun = momentOfAny(job.state?.nextRunAtMs);
  return {
    id: String(job.id),
    folder: folderOf(channel && to ? { channel, to } : null),
    name: job.name ?? null,
    prompt,
    schedule,
    context: job.sessionTarget === 'main' ? 'group' : 'isolated',
    state: isEnabled ? 'active' : 'paused',
    nextRun: isEnabled ? nextRun : null,
    lastRun: momentOfAny(job.state?.lastRunAtMs),
    createdAt: momentOfAny(job.createdAtMs),
    runs: [],
    lost: null,
  };
}

function scheduleOf(
  schedule: NonNullable<z.output<typeof Job>['schedule']> | null,
  machineZone: string,
): SourceTask['schedule'] | null {
  if (schedule === null) return null;
  const timeZone = schedule.tz ?? machineZone;
  if (schedule.kind === 'cron' && schedule.expr) {
    return { kind: 'cron', pattern: schedule.expr, timeZone };
  }
  if (schedule.kind === 'every' && schedule.everyMs) {
    return { kind: 'every', everyMs: schedule.everyMs, timeZone };
  }
  const at = momentOfAny(schedule.at ?? schedule.atMs);
  return schedule.kind === 'at' && at !== null ? { kind: 'at', at, timeZone } : null;
}

/** Writes names in `snake_case` as `camelCase`: both are in use for one format. */
export function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCased);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()),
      camelCased(inner),
    ]),
  );
}

/** Files that say who the assistant is; they hold in every chat. */
const PERSONA = ['SOUL.md', 'IDENTITY.md'];
/** What it remembers of its owner: private, as its own chat is. */
const MEMORY = ['USER.md', 'MEMORY.md', 'memory/MEMORY.md'];
/** Files about the other program itself. */
const ABOUT_ITSELF = ['AGENTS.md', 'TOOLS.md', 'BOOTSTRAP.md', 'BOOT.md', 'HEARTBEAT.md'];

/** Reads a workspace: persona for all chats; memory, daily notes and other files for the owner's own. */
export function workspaceFiles(
  workspace: string,
  folder: string,
): { readonly files: readonly SourceFile[]; readonly leftBehind: readonly LeftBehind[] } {
  const isApart = (path: string) =>
    path === 'skills' ||
    path === 'sessions' ||
    path === 'cron' ||
    [...PERSONA, ...MEMORY, ...ABOUT_ITSELF].includes(path);
  const { paths, leftBehind } = filesBelow(workspace, isApart);
  const skills = skillsIn(join(workspace, 'skills'), null);
  const texts = (names: readonly string[], to: string | null, kind: 'memory' | 'persona') =>
    names
      .filter((name) => isFile(join(workspace, name)))
      .map((name) => ({
        folder: to,
        path: 'CLAUDE.md',
        kind,
        key: name,
        content: { kind: 'copy', from: join(workspace, name) } as const,
      }));
  const about = ABOUT_ITSELF.filter((name) => isFile(join(workspace, name)));
  return {
    files: [
      ...texts(PERSONA, null, 'persona'),
      ...texts(MEMORY, folder, 'memory'),
      ...copiesOf(workspace, paths, { folder, kind: 'file' }),
      ...copiesOf(workspace, about, { folder, below: 'earlier-instructions', kind: 'file' }),
      ...skills.files,
    ],
    leftBehind: [...leftBehind, ...skills.leftBehind],
  };
}

/** Reads the model that answered, if its server is known here. */
export function modelSetting(model: string | null | undefined): {
  readonly settings: readonly SourceSetting[];
  readonly leftBehind: readonly LeftBehind[];
} {
  if (!model) return { settings: [], leftBehind: [] };
  const plain = model.replace(/^openrouter\//, '');
  const isKnown = plain === model && /^(anthropic|openai)\/\S+$/.test(model);
  const setting = { name: 'MODEL', value: model, isSecret: false, channel: null };
  if (isKnown) return { settings: [setting], leftBehind: [] };
  const why = 'its server needs a skill or an address here: npx claw setup model';
  return { settings: [], leftBehind: [{ what: `the model ${model}`, why }] };
}

/** Makes settings of pairs of a name and a value, where there is one. */
export function settingsOf(
  pairs: readonly (readonly [string, string | null | undefined])[],
): readonly SourceSetting[] {
  return pairs.flatMap(([name, value]) => (value ? settingOf(name, value) : []));
}
