import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSettings } from '../../../src/config.ts';
import { examination } from '../../../src/doctor/semantic-memory.ts';
import { section } from '../../../src/prompt/recall.ts';
import { setup } from '../../../src/setup/semantic-memory.ts';
import type { SetupContext } from '../../../src/setup/step.ts';
import { refuseEmbeddings, startEmbeddingsServer } from '../../../src/testing/model/embeddings.ts';
import { promptTurn } from '../../../src/testing/turn/prompt-turn.ts';
import { serviceOf } from '../../../src/tools/semantic-memory/calls.ts';
import type { Memory } from '../../../src/tools/semantic-memory/memory.ts';
import type { Note } from '../../../src/tools/semantic-memory/note.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const HOUR_MS = 3_600_000;

function noteWith(over: Partial<Note>): Note {
  const said = { place: 1, heading: null, who: 'Bob', saidAt: NOW - 48 * HOUR_MS };
  return {
    id: 1,
    folder: 'main',
    kind: 'message',
    source: 'x:1',
    text: 'a note',
    ...said,
    ...over,
  };
}

/** Writes the section for a turn while a memory finds these notes. Returns the lines of the notes. */
async function sectionWith(
  notes: readonly Note[],
  { environment = {}, turn = {} }: { environment?: object; turn?: object } = {},
) {
  const asked: { text: string }[] = [];
  const found = notes.map((note) => ({ note, likeness: 0.9, share: 0 }));
  const memory: Memory = {
    recall: async (wish) => {
      asked.push(wish);
      return { found, problem: null };
    },
    status: () => ({ embedder: 'x', notes: 0, embedded: 0, refused: 0, problem: null }),
    rebuild() {},
    update: async () => {},
  };
  const { onCall } = serviceOf(memory);
  const { signal } = new AbortController();
  const caller = { folder: 'main', jid: 'terminal:main', turn: 't', signal };
  const callService = async (_service: string, request: unknown) => onCall?.(request, caller);
  const log = { info() {}, warn() {}, error() {} };
  const context = { assistantName: 'Andy', dataDir: '/nowhere', timeZone: 'UTC', log };
  const opened = section.open({ ...environment }, context);
  if (opened.kind !== 'made') throw new Error('wrong settings');
  const text = await opened.value?.(promptTurn({ now: NOW, ...turn }), { callService });
  const lines = typeof text === 'string' ? text.split('\n').slice(2) : null;
  return { lines, asked };
}

test('the prompt has so many notes as are set, each on one line with its place, within its tokens', async () => {
  const notes = [
    noteWith({ text: 'one\n# two' }),
    noteWith({ kind: 'answer', who: null, text: 'what I said' }),
    noteWith({
      kind: 'file',
      source: 'a/b.md',
      place: 7,
      heading: 'Heat',
      who: null,
      saidAt: null,
    }),
  ];
  const { lines } = await sectionWith(notes);
  expect(lines).toEqual([
    '- [Thu 19 Nov 2026, 12:00, Bob] one # two',
    '- [Thu 19 Nov 2026, 12:00, you, the assistant] what I said',
    '- [a/b.md:7, Heat] a note',
  ]);
  expect((await sectionWith(notes, { environment: { RECALL_NOTES: '1' } })).lines).toHaveLength(1);
  expect((await sectionWith([])).lines).toBeNull();
  const long = Array.from({ length: 5 }, (_, at) =>
    noteWith({ text: `${at} ${'long '.repeat(60)}` }),
  );
  expect((await sectionWith(long, { environment: { RECALL_TOKENS: '250' } })).lines).toHaveLength(
    2,
  );
});

test('what the agent has before it anyway is left out', async () => {
  const recent = noteWith({ saidAt: NOW - HOUR_MS, text: 'said an hour ago' });
  const own = noteWith({ kind: 'file', source: 'CLAUDE.md', saidAt: null });
  const asked = noteWith({ text: 'when does he come?' });
  const turn = { prompt: '[21 Nov 2026, 12:00] Bob: when does he come?' };
  expect((await sectionWith([recent, own, asked], { turn })).lines).toBeNull();
  const anew = await sectionWith([recent, own], { turn: { ...turn, beginsAnew: true } });
  expect(anew.lines).toEqual(['- [Sat 21 Nov 2026, 11:00, Bob] said an hour ago']);
  expect(anew.asked[0]?.text).toBe('when does he come?');
});

test('set-up tries the model before it writes, and says what is wrong', async () => {
  const server = await startEmbeddingsServer(({ model, input }, response) =>
    model === 'small'
      ? input.map(() => [1, 2, 3])
      : refuseEmbeddings(response, 404, `The model ${model} does not exist`),
  );
  const written: object[] = [];
  const told: (string | null)[] = [];
  const context = (typed: readonly string[]): SetupContext => ({
    dataDir: '/nowhere',
    args: [],
    isInteractive: false,
    say() {},
    async ask({ check }) {
      for (const each of typed) told.push(await check(each));
      return typed.at(-1) ?? '';
    },
    write: (values) => void written.push(values),
    signal: new AbortController().signal,
  });
  const environment = { OPENAI_BASE_URL: server.url };
  const typed = ['no model', 'openai/big', 'openai/small'];
  const { summary } = await setup.run(environment, context(typed));
  expect(told).toEqual([
    expect.stringMatching(/^It must be local, or a model with its provider/),
    expect.stringMatching(/does not know "big" \(404\)/),
    null,
  ]);
  expect(summary).toContain('3 numbers');
  await setup.run(environment, context(['local']));
  expect(written).toEqual([{ EMBEDDING_MODEL: 'openai/small' }, { EMBEDDING_MODEL: 'local' }]);
  expect(setup.currentState({ EMBEDDING_MODEL: 'openai/small' }, '/nowhere')).toBe(
    'embeddings by openai/small',
  );
  await server.close();
});

test('the doctor asks the server, and says that words alone are searched without it', async () => {
  const projectDir = mkdtempSync(join(tmpdir(), 'claw-recall-'));
  const look = async (environment: Record<string, string>, isOffline = false) =>
    await examination.examine({
      projectDir,
      dataDir: join(projectDir, 'data'),
      homeDir: projectDir,
      environment,
      settings: readSettings(environment, projectDir),
      isOffline,
      now: () => NOW,
    });
  const server = await startEmbeddingsServer(({ input }) => input.map(() => [1, 2]));
  const environment = { EMBEDDING_MODEL: 'openai/small', OPENAI_BASE_URL: server.url };
  // Without the setting, a model that another skill brings would be used.
  expect(await look({ EMBEDDING_MODEL: 'local' })).toMatchObject([
    { ok: true, advice: expect.stringMatching(/local-embeddings/) },
  ]);
  expect(await look(environment)).toMatchObject([
    { ok: true, message: 'openai/small answers with 2 numbers' },
  ]);
  await server.close();
  expect(await look(environment, true)).toMatchObject([{ ok: true }]);
  expect(await look(environment)).toMatchObject([
    { ok: false, message: expect.stringMatching(/^words alone are searched: .*cannot be reached/) },
  ]);
  rmSync(projectDir, { recursive: true });
});
