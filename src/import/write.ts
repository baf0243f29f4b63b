import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../store/database.ts';
import { openOutsideMarks } from '../store/turns/outside-marks.ts';
import { lastSaid, sessionLines } from './conversation.ts';
import { withSettings } from './env-settings.ts';
import { carryOutChanges, importsFolder, removeJournal, writeJournal } from './file-journal.ts';
import type { SourceState } from './imported-items.ts';
import { type Plan, type PlannedTask, saidItem, titleOf } from './plan.ts';
import { createRowRecorder, type RowRecorder } from './row-changes.ts';
import { Staging } from './staging.ts';
import type { Target } from './target.ts';
import { writeLinkDatabase } from './whatsapp-link.ts';

/** What an import has brought, by number; `id` is null where nothing was new. */
export type Imported = {
  readonly id: number | null;
  readonly messages: number;
  readonly groups: number;
  readonly tasks: number;
  readonly files: number;
  readonly settings: number;
};

/** Means of a writer, beside the target. */
export type WriteContext = {
  readonly newId: () => string;
  readonly progress: (text: string) => void;
  /** Called at each step, by its name: a test ends the process there. */
  readonly onStep?: (step: string) => void;
};

const PROGRESS_EVERY = 20_000;
/** SQL for the rows of a table after a cursor. */
const LAST_SEQ = (table: string) => `SELECT coalesce(max(seq), 0) FROM ${table}`;

/**
 * Carries out a plan. Files are staged first. One transaction brings everything that is a row; once it is committed, the
 * import counts, and the staged files take their places. A kill before the commit leaves all as it was; after it,
 * `recoverImport` puts the rest of the files in place.
 */
export function writeImport(
  target: Target,
  from: { readonly plan: Plan; readonly source: SourceState; readonly place: string },
  context: WriteContext,
): Imported {
  const { database, roots, now } = target;
  const { plan, source } = from;
  const step = context.onStep ?? (() => {});
  const staging = new Staging(target, context.newId());
  let done: { readonly id: number; readonly messages: number } | null = null;
  try {
    stageFiles(target, staging, plan);
    step('staged');
    done = database
      .transaction(() => {
        const id = beginRun(database, from, staging.folder, now);
        const rows = createRowRecorder(database, id);
        writeChats(database, plan, rows, now);
        const history = writeHistory(database, source, rows, context.progress);
        writeGroups(database, plan, rows, now);
        writeTasks(database, plan, rows, now);
        const { timeZone } = source;
        writeConversations(target, { plan, timeZone, said: history.said, rows }, staging, context);
        for (const { item, path } of plan.files) rows.item(item, path);
        for (const { item, name } of plan.settings) rows.item(item, name);
        if (plan.link !== null) rows.item(plan.link.item, 'whatsapp/link.db');
        const changes = staging.changes();
        if (rows.count === 0 && changes.length === 0) {
          database.prepare('DELETE FROM imports WHERE id = ?').run(id);
          database.prepare("UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'imports'").run();
          return null;
        }
        endRun(database, id, changes);
        step('rows');
        writeJournal(roots.data, { kind: 'import', id, changes });
        step('journal');
        return { id, messages: history.count };
      })
      .immediate();
    step('committed');
    if (done !== null) {
      const journal = { kind: 'import', id: done.id, changes: staging.changes() } as const;
      carryOutChanges(roots, journal, () => step('file'));
      removeJournal(roots.data);
      step('published');
    }
  } finally {
    if (done === null) staging.removeAll();
    else staging.removeNew();
  }
  return {
    id: done?.id ?? null,
    messages: done?.messages ?? 0,
    groups: plan.groups.length,
    tasks: plan.tasks.length + plan.tasksToStart.length,
    files: plan.files.length,
    settings: plan.settings.length,
  };
}

function stageFiles({ roots, now }: Target, staging: Staging, plan: Plan): void {
  for (const { path, content, appendUnder } of plan.files) {
    if (appendUnder === null) {
      staging.add('project', path, content);
      continue;
    }
    const bytes = content.kind === 'copy' ? readFileSync(content.from) : content.bytes;
    staging.append('project', path, `${appendUnder}\n\n${bytes.toString('utf8')}`);
  }
  if (plan.settings.length > 0) {
    const lines = withSettings('', plan.settings);
    staging.append('project', '.env', `# From ${titleOf(plan.product)}\n${lines}`);
  }
  if (plan.link !== null) {
    const work = join(importsFolder(roots.data), staging.folder, 'link');
    writeLinkDatabase(work, plan.link, now);
    staging.add('data', 'whatsapp/link.db', {
      kind: 'copy',
      from: join(work, 'whatsapp/link.db'),
    });
  }
}

function beginRun(
  database: Database,
  { plan, place }: { readonly plan: Plan; readonly place: string },
  folder: string,
  now: number,
): number {
  const insert = database.prepare(`
    INSERT INTO imports (product, version, source, folder, imported_at,
      messages_after, messages_upto, answers_after, answers_upto)
    VALUES (?, ?, ?, ?, ?, (${LAST_SEQ('messages')}), 0, (${LAST_SEQ('answers')}), 0)`);
  const { lastInsertRowid } = insert.run(plan.product, plan.version, place, folder, now);
  return Number(lastInsertRowid);
}

function endRun(database: Database, id: number, changes: ReturnType<Staging['changes']>): void {
  database
    .prepare(`UPDATE imports SET messages_upto = (${LAST_SEQ('messages')}),
      answers_upto = (${LAST_SEQ('answers')}) WHERE id = ?`)
    .run(id);
  const insert = database.prepare(`
    INSERT INTO import_files (import, place, path, number, before_digest, after_digest)
    VALUES (?, ?, ?, ?, ?, ?)`);
  for (const { place, path, number, before, after } of changes) {
    insert.run(id, place, path, number, before, after);
  }
}

function writeChats(database: Database, plan: Plan, rows: RowRecorder, now: number): void {
  const insert = database.prepare(`
    INSERT INTO chats (jid, channel, name, is_direct, seen_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (jid) DO NOTHING`);
  for (const { jid, channel, name, isDirect } of [...plan.chats, ...plan.groupChats]) {
    const item = `${plan.product}:chat:${jid}`;
    if (database.prepare('SELECT 1 FROM import_items WHERE item = ?').get(item) !== undefined)
      continue;
    rows.item(item, null);
    rows.change('chats', { jid }, () => insert.run(jid, channel, name, Number(isDirect), now));
  }
}

type History = { readonly count: number; readonly said: ReturnType<typeof lastSaid> };

function writeHistory(
  database: Database,
  source: SourceState,
  rows: RowRecorder,
  progress: (text: string) => void,
): History {
  // `stored_at` is when it was said: what reads a chat in order goes by it.
  const insertMessage = database.prepare(`
    INSERT INTO messages (jid, id, sender, sender_name, is_owner, text, sent_at, stored_at)
    VALUES (:jid, :id, :sender, :senderName, :isOwner, :text, :at, :at)
    ON CONFLICT (jid, id) DO NOTHING`);
  const insertAnswer = database.prepare(
    'INSERT INTO answers (jid, text, said_at) VALUES (?, ?, ?)',
  );
  const isKnown = database.prepare('SELECT 1 FROM import_items WHERE item = ?').pluck();
  const insertChat = database.prepare(`
    INSERT INTO chats (jid, channel, name, is_direct, seen_at) VALUES (?, 'unknown', NULL, 0, ?)`);
  const hasChat = database.prepare('SELECT 1 FROM chats WHERE jid = ?').pluck();
  const said = lastSaid();
  const known = new Set<string>();
  let count = 0;
  let seen = 0;
  for (const message of source.messages()) {
    seen += 1;
    if (seen % PROGRESS_EVERY === 0) progress(`${seen} messages`);
    said.add(message);
    const { jid, id, sender, senderName, isOwner, text, at } = message;
    const item = saidItem(source.product, message);
    if (isKnown.get(item) !== undefined) continue;
    if (!known.has(jid)) {
      known.add(jid);
      if (hasChat.get(jid) === undefined) {
        rows.change('chats', { jid }, () => void insertChat.run(jid, at));
      }
    }
    rows.item(item, null);
    if (sender === null) insertAnswer.run(jid, text, at);
    else insertMessage.run({ jid, id, sender, senderName, isOwner: Number(isOwner), text, at });
    count += 1;
  }
  return { count, said };
}

function writeGroups(database: Database, plan: Plan, rows: RowRecorder, now: number): void {
  // Nothing that was said before is answered: it is all before the cursor of the group.
  const insert = database.prepare(`
    INSERT INTO groups (jid, folder, name, needs_trigger, trigger_word, is_main, registered_at, since_seq)
    VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(seq), 0) FROM messages))`);
  const allow = database.prepare('INSERT INTO group_senders (jid, sender) VALUES (?, ?)');
  for (const group of plan.groups) {
    const { jid, folder, name, needsTrigger, triggerWord, isMain } = group;
    rows.item(group.item, folder);
    const register = () =>
      rows.change('groups', { jid }, () => {
        insert.run(jid, folder, name, Number(needsTrigger), triggerWord, Number(isMain), now);
      });
    // A trigger of the database notes who holds the folder.
    if (isMain) register();
    else rows.change('folder_holders', { folder }, register);
    for (const sender of group.senders) {
      rows.change('group_senders', { jid, sender }, () => void allow.run(jid, sender));
    }
  }
}

function writeTasks(database: Database, plan: Plan, rows: RowRecorder, now: number): void {
  const insert = database.prepare(`
    INSERT INTO tasks (folder, name, prompt, schedule_kind, schedule, time_zone, anchor, context, if_missed,
      state, next_run, last_due, created_by, created_at)
    VALUES (:folder, :name, :prompt, :kind, :text, :timeZone, :anchor, :context, 'run-once',
      :state, :nextRun, :lastRun, :folder, :createdAt) RETURNING id`);
  const next = database.prepare(
    "SELECT 1 + coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'tasks'), 0)",
  );
  const start = database.prepare("UPDATE tasks SET state = 'active', next_run = ? WHERE id = ?");
  for (const task of plan.tasks) {
    const id = Number(next.pluck().get());
    rows.change('tasks', { id }, () => void insert.get(taskRow(task, now)));
    writeRuns(database, id, task, rows);
    rows.item(task.item, String(id));
    // Started already: a later take-over has nothing to do.
    if (!task.isWaiting) rows.item(task.item.replace(':task:', ':task-start:'), String(id));
  }
  for (const { item, id, nextRun } of plan.tasksToStart) {
    rows.change('tasks', { id }, () => void start.run(nextRun, id));
    rows.item(item, String(id));
  }
}

function taskRow({ source, folder, schedule, state, nextRun }: PlannedTask, now: number): object {
  const { name, prompt, context, lastRun, createdAt } = source;
  const row = { folder, name, prompt, ...schedule, context, state, nextRun, lastRun };
  return { ...row, createdAt: createdAt ?? now };
}

function writeRuns(database: Database, taskId: number, task: PlannedTask, rows: RowRecorder): void {
  const insert = database.prepare(`
    INSERT INTO task_runs (task_id, due_at, fired_at, started_at, finished_at, outcome, summary)
    VALUES (:taskId, :at, :at, :at, :end, :outcome, :summary)`);
  const next = database.prepare(
    "SELECT 1 + coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'task_runs'), 0)",
  );
  for (const { at, durationMs, isFailed, summary } of task.source.runs) {
    const id = Number(next.pluck().get());
    const outcome = isFailed ? 'failed' : summary === '' ? 'silent' : 'answered';
    const [line = ''] = summary.split('\n');
    const end = at + Math.max(0, Math.round(durationMs));
    const row = { taskId, at, end, outcome, summary: line.slice(0, 200) };
    rows.change('task_runs', { id }, () => void insert.run(row));
  }
}

/** Lets each new group go on with what was said last, so that it knows about yesterday. */
function writeConversations(
  { database, now }: Target,
  from: {
    readonly plan: Plan;
    readonly timeZone: string;
    readonly said: History['said'];
    readonly rows: RowRecorder;
  },
  staging: Staging,
  { newId }: WriteContext,
): void {
  const { plan, timeZone, said, rows } = from;
  const hasSession = database.prepare('SELECT 1 FROM sessions WHERE folder = ?').pluck();
  const insert = database.prepare(
    'INSERT INTO sessions (folder, session, updated_at) VALUES (?, ?, ?)',
  );
  const marks = openOutsideMarks(database);
  const title = titleOf(plan.product);
  for (const { jid, folder } of plan.groups) {
    const lines = sessionLines(said.of(jid), title, timeZone);
    if (lines === '' || hasSession.get(folder) !== undefined) continue;
    const session = newId();
    const path = `sessions/${folder}/.claude/sessions/${session}.jsonl`;
    staging.add('data', path, { kind: 'bytes', bytes: Buffer.from(lines) });
    rows.change('sessions', { folder }, () => void insert.run(folder, session, now));
    // Others may have said what stands there.
    rows.change('outside_marks', { kind: 'conversation', name: folder }, () =>
      marks.add({ kind: 'conversation', name: folder }, `a chat moved from ${title}`, now),
    );
  }
}
