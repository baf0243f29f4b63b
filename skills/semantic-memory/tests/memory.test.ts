import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { StartService } from '../../../src/host/contracts/service.ts';
import type { TurnRequest } from '../../../src/sandbox/sandbox.ts';
import { answers, TestProject, textsOf } from '../../../src/testing/assistant.ts';
import {
  type EmbeddingsScript,
  refuseEmbeddings,
  startEmbeddingsServer,
} from '../../../src/testing/model/embeddings.ts';
import { isIdle, startWithFamily } from '../../../src/testing/turn/tasks.ts';
import { serviceOf } from '../../../src/tools/semantic-memory/calls.ts';
import { type Memory, openMemory } from '../../../src/tools/semantic-memory/memory.ts';
import { realEmbedding } from './fixtures.ts';
import { NOTES } from './labelled-notes.ts';

const MODEL = 'openai/encoder';
/** Questions of these tests, by the labelled one that stands for them. */
const ASKED = 'When will somebody repair our hot water?';

/** Answers as the real model did; texts that it has not seen are far from all. */
const real: EmbeddingsScript = ({ input }) => input.map(vectorOf);

function vectorOf(text: string): readonly number[] {
  try {
    return [...realEmbedding(text.replace(/^House: /, ''))];
  } catch {
    return Array.from({ length: 512 }, (_, at) => (at === text.length % 512 ? 1 : 0));
  }
}

/** Answers in a way of its own. */
function says(end: (response: ServerResponse) => void): EmbeddingsScript {
  return (_request, response) => {
    end(response);
    return null;
  };
}

/** Writes a file of a group. */
function write(project: TestProject, path: string, text: string): void {
  const at = join(project.dir, 'groups', path);
  mkdirSync(join(at, '..'), { recursive: true });
  writeFileSync(at, text);
}

/** The service as the tree has it, which hands its memory to the test. */
function memoryService(model = 'local') {
  const { promise, resolve } = Promise.withResolvers<Memory>();
  const value: StartService = (context) => {
    const memory = openMemory({ ...context, model, installed: [], threshold: undefined });
    resolve(memory);
    return serviceOf(memory);
  };
  const current = async () => {
    const memory = await promise;
    await memory.update();
    return memory;
  };
  return { services: [{ name: 'semantic-memory', value }], current };
}

const textsFound = (found: readonly { readonly note: { readonly text: string } }[]) =>
  found.map(({ note }) => note.text);

test('notes are found by their meaning, with their place, in the prompt and by the tool', async () => {
  using project = new TestProject();
  const server = await startEmbeddingsServer(real);
  write(project, 'main/house.md', `# House\n\n${NOTES[0]}\n\n${NOTES[3]}\n`);
  write(project, 'global/all.md', `${NOTES[9]}\n`);
  const seen: TurnRequest[] = [];
  const agent = async (request: TurnRequest) => {
    seen.push(request);
    return answers('On the 24th.');
  };
  const environment = { EMBEDDING_MODEL: MODEL, OPENAI_BASE_URL: server.url, OPENAI_API_KEY: 'k' };
  const assistant = await project.start({ agent, environment });
  await vi.waitFor(async () => {
    await assistant.terminal.say('/recall');
    await isIdle(assistant);
    expect(textsOf(assistant.terminal).at(-1)).toMatch(/^[1-9]\d* notes, embeddings by openai/);
  });
  await assistant.terminal.say(ASKED);
  await isIdle(assistant);
  const notes = seen[0]?.notes ?? '';
  expect(notes).toContain(`# From memory`);
  expect(notes).toContain(`- [house.md:3, House] ${NOTES[0]}`);
  expect(notes).not.toContain(NOTES[3]);
  expect(seen[0]?.system).not.toContain(NOTES[0]);
  await assistant.terminal.say('/recall Who is going to get orthodontic treatment?');
  await isIdle(assistant);
  expect(textsOf(assistant.terminal).at(-1)).toMatch(/^- \[global\/all\.md:1\] The dentist said/);
  // What was said here is memory too, and its vectors may be on their way.
  await vi.waitFor(async () => {
    await assistant.terminal.say('/recall');
    await isIdle(assistant);
    expect(textsOf(assistant.terminal).at(-1)).toMatch(
      /^\d+ notes, .*embeddings by openai\/encoder\./,
    );
  });
  expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Bearer k' });
  await assistant.stop();
  await server.close();
});

test('a group never finds what another group has, and finds what is for all', async () => {
  using project = new TestProject();
  const { services, current } = memoryService();
  const assistant = await startWithFamily(project, undefined, undefined, { services });
  write(project, 'family/a.md', 'The secret of the family is the garden gnome.\n');
  write(project, 'main/a.md', 'The secret of the owner is the garden shed.\n');
  write(project, 'global/a.md', 'The secret of all is the garden fence.\n');
  await assistant.chat.say('the secret garden was said in the family chat', {
    jid: 'chat:family',
    isDirect: false,
  });
  const memory = await current();
  const found = async (folder: string) =>
    textsFound((await memory.recall({ folder, text: 'secret garden', isStrict: false })).found);
  const family = await found('family');
  expect(family).toHaveLength(3);
  expect(family.join()).not.toContain('shed');
  expect((await found('main')).toSorted()).toEqual([
    'The secret of all is the garden fence.',
    'The secret of the owner is the garden shed.',
  ]);
  assistant.store.removeGroup('chat:family');
  await memory.update();
  expect((await found('family')).join()).toBe('The secret of all is the garden fence.');
  await assistant.stop();
});

test('only what has changed is embedded: an edit, a move, a deletion, a restart', async () => {
  using project = new TestProject();
  const server = await startEmbeddingsServer(real);
  const asked = () => server.requests.flatMap(({ input }) => input);
  const environment = { OPENAI_BASE_URL: server.url };
  write(project, 'main/a.md', `${NOTES[0]}\n\n${NOTES[1]}\n`);
  const one = memoryService(MODEL);
  const first = await project.start({ environment, over: { services: one.services } });
  const memory = await one.current();
  expect(asked().toSorted()).toEqual([NOTES[1], NOTES[0]].toSorted());
  write(project, 'main/a.md', `${NOTES[2]}\n\n${NOTES[0]}\n`);
  await memory.update();
  expect(asked().slice(2)).toEqual([NOTES[2]]);
  renameSync(join(project.dir, 'groups/main/a.md'), join(project.dir, 'groups/main/b.md'));
  await memory.update();
  expect(asked()).toHaveLength(3);
  const { found } = await memory.recall({ folder: 'main', text: 'key', isStrict: false });
  expect(found[0]?.note).toMatchObject({ source: 'b.md', place: 1 });
  expect(found.map(({ note }) => note.text)).not.toContain(NOTES[1]);
  await first.stop();
  const other = memoryService(MODEL);
  const second = await project.start({ environment, over: { services: other.services } });
  const again = await other.current();
  expect(again.status()).toMatchObject({ notes: 2, embedded: 2, problem: null });
  rmSync(join(project.dir, 'groups/main/b.md'));
  await again.update();
  expect(again.status()).toMatchObject({ notes: 0 });
  // Three notes and the one question.
  expect(asked()).toHaveLength(4);
  await second.stop();
  await server.close();
});

test('another model makes all vectors again, and goes on where it was interrupted', async () => {
  using project = new TestProject();
  let answered = 0;
  const server = await startEmbeddingsServer(({ model, input }, response) => {
    if (model === 'other' && answered >= 1) {
      return refuseEmbeddings(response, 503, 'out of order');
    }
    if (model === 'other') answered += 1;
    return input.map((text) => (model === 'other' ? [text.length, 1, 2] : vectorOf(text)));
  });
  const notes = Array.from({ length: 100 }, (_, at) => `Note ${at} about the matter ${at}.\n\n`);
  write(project, 'main/a.md', notes.join(''));
  const start = async (model: string) => {
    const { services, current } = memoryService(model);
    const environment = { OPENAI_BASE_URL: server.url };
    const { stop } = await project.start({ environment, over: { services } });
    return { stop, memory: await current() };
  };
  const first = await start(MODEL);
  expect(first.memory.status()).toMatchObject({ notes: 100, embedded: 100 });
  await first.stop();
  const second = await start('openai/other');
  expect(second.memory.status()).toMatchObject({ notes: 100, embedded: 64 });
  expect(second.memory.status().problem).toMatch(/out of order \(503\)/);
  await second.stop();
  answered = -10;
  const third = await start('openai/other');
  expect(third.memory.status()).toMatchObject({ embedded: 100, problem: null });
  const counts = server.requests
    .filter(({ model }) => model === 'other')
    .map((r) => r.input.length);
  expect(counts).toEqual([64, 36, 36]);
  await third.stop();
  await server.close();
});

test('a server that is down, answers garbage or another length is told, and words are searched alone', async () => {
  using project = new TestProject();
  let script: EmbeddingsScript = real;
  const server = await startEmbeddingsServer((request, response) => script(request, response));
  write(project, 'main/a.md', `${NOTES[0]}\n`);
  const environment = { OPENAI_BASE_URL: server.url };
  const cases: readonly [EmbeddingsScript, RegExp][] = [
    [
      ({ input }) => input.map(() => [1, 2, 3]),
      /vectors of 3 numbers now, and those kept have 512/,
    ],
    [() => [], /answered with 0 embeddings for 1 texts/],
    [says((response) => response.end('<html>')), /answered with no embeddings/],
    [says((response) => response.destroy()), /cannot be reached/],
  ];
  for (const [wrong, expected] of cases) {
    script = real;
    const { services, current } = memoryService(MODEL);
    const assistant = await project.start({ environment, over: { services } });
    const memory = await current();
    script = wrong;
    const ask = () => memory.recall({ folder: 'main', text: 'the plumber', isStrict: false });
    const { found, problem } = await ask();
    expect(problem).toMatch(expected);
    expect(textsFound(found)).toEqual([NOTES[0]]);
    // While the outage is believed, no turn waits for the server.
    const before = server.requests.length;
    await ask();
    expect(server.requests).toHaveLength(before);
    await assistant.terminal.say('/recall');
    await isIdle(assistant);
    expect(textsOf(assistant.terminal).at(-1)).toMatch(/words alone for now: /);
    await assistant.stop();
  }
  await server.close();
});

test('a text that the server refuses is passed over, and the others get their vectors', async () => {
  using project = new TestProject();
  const server = await startEmbeddingsServer(({ input }, response) =>
    input.some((text) => text.includes('refused'))
      ? refuseEmbeddings(response, 400, 'input too long')
      : input.map(vectorOf),
  );
  write(project, 'main/a.md', `${NOTES[0]}\n\nThis one is refused.\n\n${NOTES[1]}\n`);
  const environment = { OPENAI_BASE_URL: server.url };
  const { services, current } = memoryService(MODEL);
  const assistant = await project.start({ environment, over: { services } });
  const memory = await current();
  expect(memory.status()).toMatchObject({ notes: 3, embedded: 2, refused: 1, problem: null });
  await assistant.stop();
  await server.close();
});

test('a text whose vector is zeros or no number is passed over, and the others of its batch get theirs', async () => {
  using project = new TestProject();
  const server = await startEmbeddingsServer(({ input }, response) => {
    if (!input.some((text) => text.includes('nothing') || text.includes('broken'))) {
      return input.map(vectorOf);
    }
    const vectors = input.map((text) =>
      vectorOf(text).map((each) =>
        text.includes('nothing') ? 0 : text.includes('broken') ? Number.NaN : each,
      ),
    );
    const data = vectors.map((embedding, index) => ({ index, embedding }));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ data }));
    return null;
  });
  write(
    project,
    'main/a.md',
    `${NOTES[0]}\n\nThis says nothing.\n\nThis is broken.\n\n${NOTES[1]}\n`,
  );
  const environment = { OPENAI_BASE_URL: server.url };
  const { services, current } = memoryService(MODEL);
  const assistant = await project.start({ environment, over: { services } });
  const memory = await current();
  expect(memory.status()).toMatchObject({ notes: 4, embedded: 2, refused: 2, problem: null });
  await assistant.stop();
  await server.close();
});

test('links in a group’s folder are not followed', async () => {
  using project = new TestProject();
  const secret = join(project.dir, 'secret.md');
  writeFileSync(secret, 'The secret outside of the folder.\n');
  write(project, 'main/a.md', 'A note inside of the folder.\n');
  symlinkSync(secret, join(project.dir, 'groups/main/link.md'));
  symlinkSync(project.dir, join(project.dir, 'groups/main/all'));
  const { services, current } = memoryService();
  const assistant = await project.start({ over: { services } });
  const memory = await current();
  const { found } = await memory.recall({ folder: 'main', text: 'the folder', isStrict: false });
  expect(textsFound(found)).toEqual(['A note inside of the folder.']);
  await assistant.stop();
});
