import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { readEnvFile } from '../env-file.ts';
import { anyNumber } from '../lib/setting-values.ts';
import {
  type ChangeOutcome,
  withConversationChanges,
} from '../store/chats/conversation-changes.ts';
import { StoreError } from '../store/error.ts';
import { type ReadOnlyQueries, withReadOnlyQueries } from '../store/read-only-queries.ts';
import { defineVerb, type VerbCall, type VerbEnd, VerbError } from '../verb.ts';
import { namedChats } from './assistant/named-chat.ts';
import { maskSecrets } from './export/mask.ts';
import {
  type ConversationFile,
  findConversations,
  readConversation,
  withRemoval,
} from './sessions/conversations.ts';
import {
  type ConversationFacts,
  conversationLines,
  listLines,
  localTime,
  questionsText,
} from './sessions/lines.ts';

const LISTED = 20;
const MOST_LISTED = 1_000;
const HOUR_MS = 3_600_000;
const USAGE =
  'Say `npx claw sessions`, or `sessions show`, `sessions resume` or `sessions delete` and the id of a session, or how that begins.';

/** The values that all parts of the verb use. */
type Place = {
  readonly projectDir: string;
  readonly dataDir: string;
  readonly assistantName: string;
  readonly now: number;
  /** A conversation that was silent since has ended. */
  readonly since: number;
};

/** Lists the conversations of agents, shows one, goes on with one, or deletes one. */
export const verb = defineVerb({
  name: 'sessions',
  help: 'list the conversations of the chats; show, resume or delete one',
  usage: {
    argument: '[action...]',
    help: 'list; or show, resume or delete, with the id of a session or its beginning',
  },
  options: [
    { flags: '--chat <name>', help: 'sessions of this chat only' },
    { flags: '--last <count>', help: `list so many of the newest, ${LISTED} by default` },
  ],
  settings: z.object({
    ASSISTANT_NAME: z.string().min(1).default('Andy'),
    SESSION_EXPIRY_HOURS: anyNumber(0, 87_600).default(24),
  }),
  create:
    ({ projectDir, dataDir, now, settings }) =>
    async (call) => {
      const { ASSISTANT_NAME: assistantName, SESSION_EXPIRY_HOURS: hours } = settings;
      const moment = now();
      const since = hours === 0 ? 0 : moment - hours * HOUR_MS;
      const place = { projectDir, dataDir, assistantName, now: moment, since };
      const [action = 'list', id, ...more] = call.words;
      try {
        if (action === 'list' && id === undefined) return await listed(place, call);
        const act = { show, resume, delete: remove }[action];
        if (act === undefined || id === undefined || more.length > 0) {
          throw new VerbError('usage', USAGE);
        }
        return await act(place, await found(place, call, id), call);
      } catch (error) {
        throw error instanceof StoreError ? new VerbError('failed', error.message) : error;
      }
    },
});

/** Looks into the assistant's database. */
function look<T>({ dataDir }: Place, read: (queries: ReadOnlyQueries) => T): T {
  return withReadOnlyQueries(join(dataDir, 'claw.db'), read);
}

async function listed(place: Place, { options, columns }: VerbCall): Promise<VerbEnd> {
  const limit = Number(options['last'] ?? LISTED);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED) {
    throw new VerbError('usage', `Say how many sessions: --last 50, ${MOST_LISTED} at most.`);
  }
  const all = await findConversations(place.dataDir, folderOf(place, options['chat']));
  const sessions: ConversationFacts[] = [];
  // One after the other: a conversation can fill many megabytes.
  for (const file of all.slice(0, limit)) sessions.push(await factsOf(place, file));
  const more = all.length - sessions.length;
  return { data: { sessions, more }, lines: listLines(sessions, { more, columns }) };
}

function folderOf(place: Place, chat: unknown): string | null {
  if (typeof chat !== 'string') return null;
  const [{ group }] = look(place, (queries) => namedChats(queries.chats(), chat));
  if (group !== null) return group.folder;
  throw new VerbError('usage', `${chat} is not registered, so no agent has worked there.`);
}

/** @throws VerbError where no session begins so, or several do */
async function found(place: Place, { options }: VerbCall, id: string): Promise<ConversationFile> {
  const all = await findConversations(place.dataDir, folderOf(place, options['chat']));
  const fitting = all.filter((one) => id !== '' && one.id.startsWith(id.toLowerCase()));
  const [only, second] = fitting;
  if (only === undefined) {
    throw new VerbError('usage', `There is no session ${id}: \`npx claw sessions\` lists them.`);
  }
  if (second === undefined) return only;
  const ids = fitting.slice(0, 5).map((one) => one.id);
  throw new VerbError('usage', `Several sessions begin so: ${ids.join(', ')}.`);
}

async function factsOf(place: Place, file: ConversationFile): Promise<ConversationFacts> {
  const { id, folder, beganAt, lastAt, sizeBytes } = file;
  const [chat, goingOn] = look(place, (queries) => [
    queries.chats().find(({ group }) => group?.folder === folder)?.group?.name ?? null,
    queries.goingOn(folder, place.since),
  ]);
  const entries = await readConversation(place.dataDir, file);
  const questions = entries?.filter(({ role }) => role === 'user') ?? null;
  const masked = [...maskSecrets([questions?.[0]?.text ?? ''], readEnvFile(place.projectDir))];
  return {
    ...{ id, folder, chat, goesOn: goingOn === id, sizeBytes },
    beganAt: new Date(beganAt).toISOString(),
    lastAt: new Date(lastAt).toISOString(),
    questions: questions?.length ?? null,
    firstQuestion: questions === null || questions.length === 0 ? null : (masked[0] ?? null),
  };
}

async function show(place: Place, file: ConversationFile): Promise<VerbEnd> {
  const facts = await factsOf(place, file);
  const entries = await readConversation(place.dataDir, file);
  if (entries === null) {
    const path = join(place.dataDir, 'sessions', file.folder, '.claude/sessions');
    throw new VerbError('failed', `${file.id}.jsonl in ${path} is too long to be shown.`);
  }
  const secrets = readEnvFile(place.projectDir);
  const masked = (text: string) => [...maskSecrets([text], secrets)].join('');
  const messages = entries.map((entry) => ({ ...entry, text: masked(entry.text) }));
  return {
    data: { session: facts, messages },
    lines: conversationLines(facts, messages, place.assistantName),
  };
}

async function resume(place: Place, file: ConversationFile, call: VerbCall): Promise<VerbEnd> {
  const facts = await factsOf(place, file);
  if (facts.chat === null) {
    throw new VerbError(
      'failed',
      `groups/${file.folder} has no registered chat. \`npx claw groups register\` takes one up.`,
    );
  }
  if (facts.goesOn) {
    const lines = [`${facts.chat} goes on with session ${file.id} already. Nothing was changed.`];
    return { data: { session: facts, isChanged: false }, lines };
  }
  const isRunning = await call.isAssistantRunning();
  refuseAtWork(
    facts.chat,
    withConversationChanges({ path: join(place.dataDir, 'claw.db'), isRunning }, (changes) =>
      changes.resume({ folder: file.folder, session: file.id, now: place.now }),
    ),
  );
  const lines = [
    `The next message in ${facts.chat} goes on with session ${file.id}: ${questionsText(facts)}, the last on ${localTime(facts.lastAt)}.`,
    'The conversation from before stays, and can be resumed too.',
  ];
  return { data: { session: { ...facts, goesOn: true }, isChanged: true }, lines };
}

async function remove(place: Place, file: ConversationFile, call: VerbCall): Promise<VerbEnd> {
  const facts = await factsOf(place, file);
  const chat = facts.chat ?? `groups/${file.folder}`;
  const what = `session ${file.id} of ${chat}: ${questionsText(facts)} with their answers and what tools returned, ${localTime(facts.beganAt)} to ${localTime(facts.lastAt)}`;
  const ends = facts.goesOn ? ' The next message begins a new conversation.' : '';
  const stays =
    'What was said in the chat stays in its history: `npx claw export` and `search_history` find it.';
  const answer = await call.consent(
    `This deletes ${what}. It cannot be taken back.${ends} ${stays} Delete it?`,
  );
  if (answer === 'nobody-to-ask') {
    throw new VerbError(
      'usage',
      `This would delete ${what}. Nothing was deleted: say it with --yes.`,
    );
  }
  if (answer === 'no') throw new VerbError('declined', 'You said no; nothing was deleted.');
  const isRunning = await call.isAssistantRunning();
  const change = { folder: file.folder, session: file.id, now: place.now, resetId: randomUUID() };
  const outcome = await withRemoval(place.dataDir, file, (removeFile) =>
    withConversationChanges({ path: join(place.dataDir, 'claw.db'), isRunning }, (changes) =>
      changes.remove(change, removeFile),
    ),
  );
  refuseAtWork(chat, outcome);
  return {
    data: { session: facts, isDeleted: true },
    lines: [`Deleted ${what}.${ends}`, stays],
  };
}

function refuseAtWork(chat: string, outcome: ChangeOutcome): void {
  if (outcome === 'changed') return;
  throw new VerbError(
    'failed',
    `The agent is at work in ${chat}. Nothing was changed: wait for its answer, or say /stop, and try again.`,
  );
}
