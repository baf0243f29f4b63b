import { expect, test } from 'vitest';
import { requestOf } from '../../../src/services/pipeline/request.ts';
import { discoverStages, type WorkRequest } from '../../../src/services/pipeline/stage.ts';

const stages = await discoverStages();
const of = (text: string, over: Partial<WorkRequest> = {}) =>
  stages.profileOf({
    text,
    files: [],
    hasPictures: false,
    isTask: false,
    toolsBefore: [],
    ...over,
  });

test.each([
  ['Chat', 'hello, how are you today?'],
  ['Chat', 'I had a nice walk'],
  ['CodeGeneration', 'Write a function that sorts names in TypeScript'],
  ['CodeGeneration', 'please fix the bug in my script'],
  ['CodeReview', 'Review this patch:\ndiff --git a/x b/x\n--- a/x\n+++ b/x'],
  ['CodeReview', 'what is wrong here, can you find bugs?'],
  ['Research', 'look up who invented the bicycle'],
  ['Creative', 'Write a short poem about the sea'],
  ['Analysis', 'Compare the two offers, with pros and cons'],
  ['ToolUse', 'Remind me every morning to water the plants'],
  ['ToolUse', 'delete the file notes.txt'],
  ['Unknown', ''],
  ['Unknown', 'lorem '.repeat(60)],
])('%s: %s', async (type, text) => {
  expect((await of(text)).type).toBe(type);
});

test.each([
  ['Chat', 'Guten Morgen, wie geht es dir?'],
  ['CodeGeneration', 'Schreibe eine Funktion, die Namen sortiert'],
  ['CodeReview', 'Prüfe bitte diesen Code'],
  ['Research', 'Finde heraus, wer das Fahrrad erfunden hat'],
  ['Creative', 'Schreib ein kurzes Gedicht über das Meer'],
  ['Analysis', 'Vergleiche die beiden Angebote'],
  ['ToolUse', 'Erinnere mich jeden Morgen ans Gießen'],
  ['ToolUse', 'lösche die Datei notizen.txt'],
  ['CodeGeneration', 'Écris une fonction qui trie des noms'],
  ['Creative', 'Écris un poème sur la mer'],
  ['Analysis', 'Résume ce texte'],
  ['ToolUse', 'Rappelle-moi chaque matin d’arroser les plantes'],
  ['CodeGeneration', 'Escribe una función que ordene nombres'],
  ['Creative', 'Cuenta un chiste'],
  ['ToolUse', 'Recuérdame cada mañana regar las plantas'],
  ['Creative', 'Scrivi una poesia sul mare'],
  ['ToolUse', 'Ricordami ogni mattina di annaffiare'],
  ['Analysis', 'Compara as duas ofertas, por que é melhor?'],
  ['Creative', 'Schrijf een verhaal over de zee'],
  ['ToolUse', 'Herinner me elke ochtend'],
  ['Chat', 'Wir waren gestern im Wald spazieren'],
])('in other languages, %s: %s', async (type, text) => {
  expect((await of(text)).type).toBe(type);
});

test('in other languages, a word to go on and words that ask for thought count too', async () => {
  expect((await of('nochmal', { toolsBefore: ['shell'] })).type).toBe('ToolUse');
  expect((await of('nochmal')).type).toBe('Chat');
  const easy = (await of('Vergleiche die Angebote')).complexity;
  const hard = (await of('Vergleiche die Angebote gründlich, Schritt für Schritt')).complexity;
  expect(hard).toBeGreaterThan(easy);
});

test('a word to go on is about the tools of the turn before, and files ask for analysis', async () => {
  expect((await of('do it again')).type).toBe('Chat');
  expect((await of('do it again', { toolsBefore: ['shell'] })).type).toBe('ToolUse');
  expect((await of('and this one?', { files: ['document'] })).type).toBe('Analysis');
});

test('complexity is from 0 to 1, and grows with length, thought, parts and code', async () => {
  const texts = [
    'hi',
    'Write a function that adds two numbers',
    'Write a function that adds two numbers. Why is it fast? Prove it step by step.',
    `Design the architecture and write a function for each, carefully:\n${'- one more part of it\n'.repeat(40)}\`\`\`ts\nlet a;\n\`\`\``,
  ];
  const found = await Promise.all(texts.map(async (text) => (await of(text)).complexity));
  expect(found).toEqual(found.toSorted((one, other) => one - other));
  expect(new Set(found).size).toBe(4);
  expect(found[0]).toBeLessThan(0.1);
  expect(found[3]).toBeGreaterThan(0.6);
  expect((await of('why '.repeat(100_000))).complexity).toBeLessThanOrEqual(1);
});

test('of a conversation the last message counts, of a task its words, and files are told apart', () => {
  const chat = { isTask: false, hasPictures: true };
  const said =
    '(and 3 more messages before these)\n[21 Nov 2026, 07:01] Ada: Write a poem\n[21 Nov 2026, 07:02] Bob: hello\n    [21 Nov 2026, 07:03] Ada: not hers\n    [photo "tree", 12 kB, id 7]';
  expect(requestOf(said, chat, ['shell'])).toEqual({
    text: 'hello\n    [21 Nov 2026, 07:03] Ada: not hers',
    files: ['photo'],
    hasPictures: true,
    isTask: false,
    toolsBefore: ['shell'],
  });
  expect(requestOf('just a line', chat, [])).toMatchObject({ text: 'just a line', files: [] });
  const task = '[Scheduled task 3, daily. Nobody is waiting.]\n\nThe task:\nWater the plants';
  expect(requestOf(task, { isTask: true, hasPictures: false }, []).text).toBe('Water the plants');
});

test.each([
  ['blank lines', `a${'\n'.repeat(200_000)}a`],
  ['what begins as the line of a file', `[a${', id '.repeat(50_000)}`],
])('a long message of %s is read', async (_name, message) => {
  const { text } = requestOf(message, { isTask: false, hasPictures: false }, []);
  expect((await of(text)).complexity).toBeLessThanOrEqual(1);
});
