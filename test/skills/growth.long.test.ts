import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { costOfFourfold, LINEAR_AT_MOST } from '../../src/testing/growth.ts';
import { type Clone, cloneWithoutProof } from '../story/clone.ts';

// How the cost of a skill's code grows with what strangers send it. A figure of this kind depends on the machine,
// so it is measured here, in the repository's own run, and stands between no owner and a skill.

const SKILLS = [
  'email',
  'guard',
  'heartbeat',
  'mcp',
  'model-pools',
  'notes',
  'pipeline',
  'roles',
  'sanitizer',
  'semantic-memory',
  'voice',
  'web',
];
const MINUTES = 20 * 60_000;

let clone: Clone;
let folder: string;
beforeAll(async () => {
  clone = cloneWithoutProof();
  folder = mkdtempSync('/tmp/claw-growth-');
  const run = await clone.claw('--yes', 'apply', ...SKILLS);
  expect(run.json.error).toBeNull();
}, MINUTES);
afterAll(async () => {
  await clone?.[Symbol.asyncDispose]();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** What the skills' own modules offer, as far as it is measured here. */
type Functions = Readonly<Record<string, (...given: never[]) => unknown>>;

/** Loads functions of the clone, where the skills are applied. */
async function load<T = Functions>(path: string): Promise<T> {
  return await import(clone.path(path));
}

type Made = readonly [what: string, size: number, make: (size: number) => string];

/** Measures reads of texts: four times the text may not cost much more than four times as much. */
function growsWithLength(
  skill: string,
  open: () => Promise<(text: string) => unknown>,
  texts: readonly Made[],
): void {
  test.each(texts)(`${skill}: %s`, async (_what, size, make) => {
    const read = await open();
    const cost = costOfFourfold(size, (length) => {
      const text = make(length);
      return () => void read(text);
    });
    expect(cost).toBeLessThan(LINEAR_AT_MOST);
  });
}

/** Returns the CPU time of some work, in milliseconds. */
async function cpuMs(work: () => unknown): Promise<number> {
  const began = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}

const NONE = new Set<string>();
type Review = {
  reviewShell(text: string, allowed: ReadonlySet<string>): { readonly kind: string };
  reviewCode(code: object, allowed: ReadonlySet<string>): unknown;
};
const review = () => load<Review>('src/guards/guard/review.ts');

growsWithLength('guard, commands', async () => {
  const { reviewShell } = await review();
  return (text) => reviewShell(text, NONE);
}, [
  ['a program of dots and lines', 8_000, (size) => `${'.-'.repeat(size)}x`],
  ['commas in braces', 8_000, (size) => `echo {${','.repeat(size)}}\u0001`],
  // A smaller text is read within the processor's cache, which a larger one is not.
  ['empty lines for sed', 24_000, (size) => `sed '${'\n'.repeat(size)}x'`],
  ['slashes for sed', 8_000, (size) => `sed 's/${'/'.repeat(size)}x'`],
  ['letters of an option for tee', 8_000, (size) => `tee -${'a'.repeat(size)}! x`],
  ['letters of an option for mv', 8_000, (size) => `mv -${'b'.repeat(size)}! x y`],
  ['commands in a row', 8_000, (size) => 'a|'.repeat(size)],
  ['shells in a row', 8_000, (size) => 'a|sh|'.repeat(size / 2)],
  ['rules for make', 8_000, (size) => `make -f - <<< '${'a:!'.repeat(size)}'`],
]);

growsWithLength('guard, code', async () => {
  const { reviewCode } = await review();
  return (code) => reviewCode({ language: 'python', code }, NONE);
}, [
  ['loops without end', 4_000, (size) => 'while :True '.repeat(size)],
  ['loops above empty lines', 16_000, (size) => `while True${'\n '.repeat(size)}`],
  ['quotation marks that never end', 4_000, (size) => '"\\'.repeat(size)],
  ['calls that unpack nothing', 4_000, (size) => `exec(${'.from('.repeat(size)}`],
]);

test('guard: a word of thousands of braces is blocked at once', async () => {
  const { reviewShell } = await review();
  const spent = await cpuMs(() => {
    expect(reviewShell(`echo ${'{'.repeat(99_000)}`, NONE).kind).toBe('block');
    expect(reviewShell(`echo ${'{a,'.repeat(33_000)}`, NONE).kind).toBe('block');
  });
  expect(spent).toBeLessThan(3_000);
});

type Instructions = { isEmptyOfWork(text: string): boolean };
growsWithLength(
  'heartbeat, spaces',
  async () => (await load<Instructions>('src/lib/heartbeat/instructions.ts')).isEmptyOfWork,
  [
    ['before a word', 8_000, (size) => `${' '.repeat(size)}x`],
    ['after a dash', 8_000, (size) => `-${' '.repeat(size)}x`],
  ],
);

type McpResult = { agentResult(result: object, place: object): unknown };
growsWithLength('mcp', async () => {
  const { agentResult } = await load<McpResult>('src/services/mcp/result.ts');
  return (mimeType) => {
    const content = [{ type: 'image', data: 'AA==', mimeType }];
    return agentResult({ content }, { dataDir: folder, folder: 'main' });
  };
}, [['a kind of file without end', 8_000, (size) => `${'a'.repeat(size)}/`]]);

type Requests = { requestOf(text: string, over: object, before: readonly []): { text: string } };
const requests = () => load<Requests>('src/services/pipeline/request.ts');
const OVER = { isTask: false, hasPictures: false };

growsWithLength('pipeline', async () => {
  const { requestOf } = await requests();
  return (text) => requestOf(text, OVER, []);
}, [['beginnings of messages', 4_000, (size) => '[\r'.repeat(size)]]);

type Stages = {
  discoverStages(): Promise<{ profileOf(request: object): Promise<{ complexity: number }> }>;
};
test.each([
  ['blank lines', `a${'\n'.repeat(200_000)}a`],
  ['what begins as the line of a file', `[a${', id '.repeat(50_000)}`],
])('pipeline: a long message of %s takes no time', async (_what, message) => {
  const { requestOf } = await requests();
  const { discoverStages } = await load<Stages>('src/services/pipeline/stage.ts');
  const stages = await discoverStages();
  const spent = await cpuMs(async () => {
    const { text } = requestOf(message, OVER, []);
    const profile = await stages.profileOf({ text, files: [], toolsBefore: [], ...OVER });
    expect(profile.complexity).toBeLessThanOrEqual(1);
  });
  // Milliseconds, where trying each place again for each other one takes many seconds.
  expect(spent).toBeLessThan(2_000);
});

type Examine = { examineText(text: string, from: string): unknown };
growsWithLength('sanitizer', async () => {
  const { examineText } = await load<Examine>('src/inbound-filters/sanitizer/examine-text.ts');
  return (text) => examineText(text, 'member');
}, [
  ['spaces after a heading', 32_000, (size) => `## system${' '.repeat(size)}x`],
  ['marks out of order', 16_000, (size) => `a${'\u0301\u0316'.repeat(size)}`],
]);

type Paragraphs = { paragraphsOf(text: string): unknown };
growsWithLength(
  'semantic-memory, a heading',
  async () => (await load<Paragraphs>('src/tools/semantic-memory/paragraphs.ts')).paragraphsOf,
  [
    ['of spaces', 1_000, (size) => `# ${' '.repeat(size)}a\u2028x`],
    ['of number signs', 1_000, (size) => `# ${'#'.repeat(size)}x`],
  ],
);

type Speech = { speakable(text: string, most: number): string };
growsWithLength('voice', async () => {
  const { speakable } = await load<Speech>('src/channels/kit/speakable.ts');
  return (text) => speakable(text, text.length);
}, [
  ['blanks', 8_000, (size) => `a${'\u2003'.repeat(size)}b`],
  ['a word', 8_000, (size) => `${'a'.repeat(size)} b`],
]);

type Notes = { searchParagraphs(where: object, query: string): Promise<{ found: unknown[] }> };
test('notes: marks in a disordered row hold no search up', async () => {
  writeFileSync(join(folder, 'a.md'), `fish ${'\u0301\u0316'.repeat(100_000)}`);
  const { searchParagraphs } = await load<Notes>('container/agent/notes/paragraphs.ts');
  const spent = await cpuMs(async () => {
    const { found } = await searchParagraphs({ files: [], folders: [folder] }, 'fish');
    expect(found).toHaveLength(1);
  });
  expect(spent).toBeLessThan(3_000);
});

type Roles = { listRoles(project: string): Promise<readonly { readonly name: string }[]> };
test('roles: files that are made to take long are listed at once', async () => {
  const roles = join(folder, 'groups/global/roles');
  mkdirSync(roles, { recursive: true });
  for (let at = 0; at < 100; at += 1) {
    const text = `${'---\n'.repeat(400)}${'description: a\n'.repeat(160)}`;
    writeFileSync(join(roles, `slow-${at}.md`), text);
  }
  const { listRoles } = await load<Roles>('src/commands/role/role-files.ts');
  let found = 0;
  const spent = await cpuMs(async () => {
    found = (await listRoles(folder)).length;
  });
  expect(found).toBeGreaterThan(0);
  expect(spent).toBeLessThan(1_500);
});

type Mail = { readMail(source: Buffer, how: object): Promise<unknown> };
test('email: beginnings of links and tags without end take no longer than their number', async () => {
  const { readMail } = await load<Mail>('src/channels/email/inbound/read-mail.ts');
  const mixed = (html: string) =>
    `From: a@b.c\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nHello\r\n--x\r\nContent-Type: text/html\r\n\r\n${html}\r\n--x--\r\n`;
  const how = { isCut: false, separateText: async () => '' };
  const times = (html: string) => cpuMs(() => readMail(Buffer.from(mixed(html)), how));
  await times('<a href=');
  for (const part of [
    '<a href=',
    '<a "',
    "<a style='",
    '<style>',
    '<style>.x{',
    '<p hidden>',
    '<p style="color:#fff;background:#fff">',
    '<style>color',
    '/*',
  ]) {
    expect(await times(part.repeat(250_000 / part.length)), part).toBeLessThan(3_000);
  }
  const rules = (most: number, declarations: string) => `b{opacity:0;${declarations}}`.repeat(most);
  const kinds = Array.from({ length: 12_000 }, (_, at) => `<b id=${at}>`).join('');
  for (const [sheet, elements] of [
    [`p{opacity:${'0'.repeat(190_000)}x}`, ''],
    [`p{font-size:${'0'.repeat(190_000)}x}`, ''],
    ['/**a'.repeat(45_000), ''],
    ['no brace '.repeat(20_000), ''],
    [rules(200, 'a:b;c:d;'.repeat(50)), '<b>'.repeat(33_000)],
    [rules(200, 'color:red;top:0;left:0'), kinds],
  ]) {
    expect(await times(`<style>${sheet}</style>${elements}`)).toBeLessThan(3_000);
  }
});

type Search = { webSearch(addresses: object): unknown };
type Server = { readonly address: string } & AsyncDisposable;
type Net = {
  localServer(handler: unknown): Promise<Server>;
  toolCaller(
    tool: unknown,
    settings: object,
  ): { call(input: object, folder: string): Promise<string> };
};
type Answers = { searchServer(answer: object): { readonly handler: unknown } };
test('web: a page of nested results takes no longer than its length', async () => {
  const { webSearch } = await load<Search>('src/tools/web/search-tool.ts');
  const { localServer, toolCaller } = await load<Net>('skills/web/tests/net.ts');
  const { searchServer } = await load<Answers>('skills/web/tests/search-servers.ts');
  const link = '<a class="result__a" href="https://a.example/">x';
  const times: number[] = [];
  for (const count of [2_000, 16_000]) {
    const body = `<div class="result">${link}`.repeat(count);
    await using server = await localServer(searchServer({ status: 200, body }).handler);
    const { address } = server;
    const addresses = { brave: address, tavily: address, duckduckgo: address };
    const { call } = toolCaller(webSearch(addresses), {});
    times.push(await cpuMs(() => call({ query: 'rain' }, 'main').catch(() => '')));
  }
  // Eight times as much took forty times as long and more.
  expect((times[1] ?? 0) / (times[0] ?? 0)).toBeLessThan(20);
});
