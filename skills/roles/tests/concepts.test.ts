import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Concept, parseConcept } from '../../../src/prompt/roles/concept.ts';
import { ConceptGraph } from '../../../src/prompt/roles/concept-graph.ts';
import { conceptNote } from '../../../src/prompt/roles/concept-note.ts';
import type { TurnRequest } from '../../../src/sandbox/sandbox.ts';
import {
  answers,
  borrowed,
  startAssistant,
  TestProject,
  textsOf,
} from '../../../src/testing/assistant.ts';
import { describeWithEngine } from '../../../src/testing/engine.ts';
import { sandboxProject } from '../../../src/testing/sandbox-project.ts';

const FOLDER = 'groups/global/roles';
const GARDEN: Readonly<Record<string, string>> = {
  'tomato.md': '---\nsynonyms: [love apple, pomodoro]\n---\nTomatoes need six hours of sun.\n',
  'tomato-blight.md':
    '# Tomato blight\n\nsynonyms:: late blight, Phytophthora\nrelated:: [[copper]]\n\nBrown spots on leaves of the [[tomato]]. Cut them off.\n',
  'copper.md': 'Copper soap stops fungi. Spray it before rain.\n',
  'rose.md': '---\naliases: Rosa\n---\nPrune in February. See [the shears](shears.md).\n',
  'shears.md': 'Keep them sharp.\n',
  '土壌.md': '土はふかふかにする。\n',
};

const concepts = Object.entries(GARDEN).map(([name, text]) =>
  parseConcept(name.slice(0, -3), text),
);
const garden = new ConceptGraph(concepts);
const pickedFrom = (message: string, graph = garden) =>
  graph.pick(message).map(({ concept, reason }) => `${reason.kind} ${concept.file}`);

test('a file is read for its name, synonyms and links, however they are written', () => {
  expect(concepts[1]).toEqual({
    file: 'tomato-blight',
    name: 'Tomato blight',
    terms: ['Tomato blight', 'tomato blight', 'late blight', 'Phytophthora'],
    links: ['copper', 'tomato'],
    text: 'Brown spots on leaves of the [[tomato]]. Cut them off.',
    problem: null,
  });
  expect(concepts[3]).toMatchObject({ terms: ['rose', 'Rosa'], links: ['shears'] });
});

test('a broken front matter is said and loses only itself', () => {
  expect(parseConcept('a', '---\nsynonyms: [x\n---\nText of a.')).toMatchObject({
    text: 'Text of a.',
    terms: ['a'],
    problem: 'its front matter is no YAML',
  });
  const bomb = `---\na: &a [x, x]\nb: &b [*a, *a]\nsynonyms: *b\n---\nText.`;
  expect(parseConcept('a', bomb)).toMatchObject({ terms: ['a'], text: 'Text.' });
});

test.each([
  ['the name', 'Is copper safe?', ['named copper', 'linked tomato-blight']],
  [
    'a synonym in another case',
    'LATE BLIGHT again',
    ['named tomato-blight', 'linked copper', 'linked tomato'],
  ],
  ['a plural', 'my roses look sad', ['named rose', 'linked shears']],
  [
    'a form of another language',
    'i pomodori e la rosa',
    ['named rose', 'named tomato', 'linked shears', 'linked tomato-blight'],
  ],
  ['a script without spaces', '庭の土壌はどう', ['named 土壌']],
  ['none', 'What time is it?', []],
  ['a word that only begins alike', 'copperplate engraving', []],
])('a message with %s brings in what it concerns', (_, message, expected) => {
  expect(pickedFrom(message)).toEqual(expected);
});

test('the longest term wins, and what two named concepts share comes before what one links to', () => {
  expect(pickedFrom('tomato blight')[0]).toBe('named tomato-blight');
  const graph = new ConceptGraph([
    parseConcept('a', '[[lone]] [[shared]]'),
    parseConcept('b', '[[shared]]'),
    parseConcept('lone', ''),
    parseConcept('shared', ''),
  ]);
  expect(pickedFrom('a and b', graph)).toEqual([
    'named b',
    'named a',
    'linked shared',
    'linked lone',
  ]);
});

test('whatever is picked, the context gets no more than its tokens, and each picked concept is accounted for', () => {
  const concept = fc.record({
    name: fc.stringMatching(/^[a-z]{1,12}$/),
    text: fc.string({ maxLength: 4_000, unit: 'grapheme' }),
  });
  fc.assert(
    fc.property(
      fc.array(concept, { maxLength: 30 }),
      fc.integer({ min: 1, max: 2_000 }),
      (list, tokens) => {
        const all: Concept[] = list.map(({ name, text }, at) =>
          parseConcept(name, `${text}\n\n[[${list[(at * 7) % list.length]?.name}]]`),
        );
        const picked = new ConceptGraph(all).pick(list.map(({ name }) => name).join(' '));
        const { text, shown, leftOut } = conceptNote(picked, { role: 'r', folder: '/f', tokens });
        expect(Buffer.byteLength(text ?? '')).toBeLessThanOrEqual(tokens * 3);
        expect(shown.length + leftOut.length).toBe(picked.length);
      },
    ),
  );
});

test('one long concept leaves room for the next', () => {
  const graph = new ConceptGraph([
    parseConcept('whale', 'Big. '.repeat(2_000)),
    parseConcept('shrimp', 'Small and pink.'),
  ]);
  const { text, shown } = conceptNote(graph.pick('a whale eats a shrimp'), {
    role: 'r',
    folder: '/f',
    tokens: 300,
  });
  expect(shown).toHaveLength(2);
  expect(text).toContain('Small and pink.');
});

let project: TestProject;
const requests: TurnRequest[] = [];
beforeEach(() => {
  requests.length = 0;
  project = new TestProject({ [`${FOLDER}/gardener.md`]: 'You look after a garden.' });
  for (const [name, text] of Object.entries(GARDEN)) write(`${FOLDER}/gardener/${name}`, text);
});
afterEach(() => project[Symbol.dispose]());

function write(path: string, text: string): void {
  mkdirSync(dirname(join(project.dir, path)), { recursive: true });
  writeFileSync(join(project.dir, path), text);
}

async function started(environment: Record<string, string> = {}) {
  const agent = async (request: TurnRequest) => {
    requests.push(request);
    return answers('done');
  };
  const assistant = await project.start({ agent, environment });
  const { terminal } = assistant;
  const said = async (text: string): Promise<string> => {
    const before = terminal.sent.length;
    await terminal.say(text);
    await vi.waitFor(() => expect(terminal.sent.length).toBeGreaterThan(before));
    return textsOf(terminal).at(-1) ?? '';
  };
  return { ...assistant, said };
}

test('the owner asks why, sees it, and an edit of a file counts from the next message on', async () => {
  const { said, stop } = await started();
  expect(await said('/role why')).toContain('No role is chosen.');
  await said('/role gardener');
  expect(await said('/role why')).toContain(
    'gardener has 6 concepts.\n\nThis role has answered no message here',
  );
  await said('what about late blight?');
  expect(requests.at(-1)?.notes).toContain('Brown spots on leaves');
  expect(requests.at(-1)?.system).not.toContain('Brown spots');
  expect(await said('/role why')).toBe(
    'gardener has 6 concepts.\n\n- Tomato blight: the message says “late blight”\n- copper: linked with Tomato blight\n- tomato: linked with Tomato blight',
  );
  expect(await said('/role why my shears')).toContain('- shears: the message says “shears”');
  write(`${FOLDER}/gardener/copper.md`, '---\nsynonyms: [verdigris\n---\nNever mix it.');
  write(`${FOLDER}/gardener/hose.md`, 'Two metres long.');
  await said('copper and a hose');
  expect(requests.at(-1)?.notes).toContain('Never mix it.');
  expect(requests.at(-1)?.notes).toContain('Two metres long.');
  expect(await said('/role why')).toContain('copper.md`: its front matter is no YAML.');
  await said('good night');
  expect(requests.at(-1)?.notes).not.toContain('What your role');
  expect(await said('/role why')).toContain('The last message here names none of them.');
  await stop();
});

test('ROLE_TOKENS=0 picks nothing, and links out of the folder are no concepts', async () => {
  write('secret.md', 'a secret');
  symlinkSync(join(project.dir, 'secret.md'), join(project.dir, FOLDER, 'gardener/leak.md'));
  const first = await started();
  await first.said('/role gardener');
  await first.said('tell me of the leak and of copper');
  expect(requests.at(-1)?.notes).toContain('Copper soap');
  expect(requests.at(-1)?.notes).not.toContain('a secret');
  await first.stop();
  const second = await started({ ROLE_TOKENS: '0' });
  await second.said('copper?');
  // Another skill may remember the words.
  expect(requests.at(-1)?.notes ?? '').not.toContain('What your role');
  await second.stop();
});

await describeWithEngine('bubblewrap', 'S1-33: a turn in a real container', () => {
  test('asks the model with the concepts of its message, and the role itself', async () => {
    const files = Object.fromEntries([
      [`${FOLDER}/gardener.md`, 'You look after a small garden.'],
      ...Object.entries(GARDEN).map(([name, text]) => [`${FOLDER}/gardener/${name}`, text]),
      ['data/role.json', '{"current":"gardener","next":null}'],
    ]);
    await using sandboxed = await sandboxProject({ engine: 'bubblewrap', files });
    rmSync(join(sandboxed.dataDir, 'claw.db'));
    const over = { sandbox: borrowed(sandboxed.sandbox) };
    const assistant = await startAssistant(sandboxed.dir, {
      environment: sandboxed.environment,
      over,
    });
    await assistant.terminal.say('Is late blight back?');
    await vi.waitFor(() => expect(assistant.terminal.sent.length).toBeGreaterThan(0));
    await assistant.terminal.say('And the shears?');
    await vi.waitFor(() => expect(assistant.terminal.sent.length).toBeGreaterThan(1));
    const [first, second] = sandboxed.server.requests.map(({ body }) => body);
    expect(JSON.stringify(first?.system)).toContain('You look after a small garden.');
    expect(JSON.stringify(first?.messages.at(-1))).toContain('Brown spots on leaves');
    expect(JSON.stringify(first?.messages)).not.toContain('Keep them sharp');
    expect(JSON.stringify(second?.messages.at(-1))).toContain('Keep them sharp');
    // The beginning stays as it was, so that a server's cache still counts.
    expect(second?.system).toEqual(first?.system);
    await assistant.stop();
  });
});
