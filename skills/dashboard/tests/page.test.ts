import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import type { LiveEvent, Watch } from '../../../src/host/contracts/live-event.ts';
import { discoverApis } from '../../../src/services/dashboard/api.ts';
import { answerWithFile } from '../../../src/services/dashboard/history-file.ts';
import { streamOf } from '../../../src/services/dashboard/stream.ts';
import { openUploads } from '../../../src/services/dashboard/uploads.ts';
import { answers } from '../../../src/testing/assistant.ts';
import { runClaw } from '../../../src/testing/claw/claw.ts';
import { ContributionFolder } from '../../../src/testing/contributions.ts';
import { isIdle } from '../../../src/testing/turn/tasks.ts';
import { FAMILY, serveDashboard } from './assistant.ts';

const HOME = join(import.meta.dirname, '../../..');
const UI = join(import.meta.dirname, '../../../ui');
const FAR = 'https://nas.example.ts.net';
const post = (body: unknown, headers: Record<string, string> = {}) =>
  ({ method: 'POST', body, headers }) as const;

test('everything that a browser loads is small, from here, and without a script in the page', async () => {
  await using served = await serveDashboard();
  const page = await served.ask('');
  expect(page.status).toBe(200);
  expect(page.headers['content-security-policy']).toContain("default-src 'self'");
  expect(page.text).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|style=/);
  const names = readdirSync(UI, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(ts|css|svg)$/.test(name),
  );
  const files = await Promise.all(
    [
      ...names,
      'styles.css',
      'manifest.json',
      'offline.de.html',
      'panels.json',
      'strings.de.json',
    ].map(async (name) => {
      const { status, headers, text } = await served.ask(`/ui/${name}`);
      expect([name, status]).toEqual([name, 200]);
      const type = name.endsWith('.ts') ? 'text/javascript; charset=utf-8' : expect.any(String);
      expect(headers['content-type']).toEqual(type);
      expect(text).not.toMatch(/\beval\(|new Function\(/);
      const again = { 'if-none-match': String(headers.etag) };
      expect((await served.ask(`/ui/${name}`, { headers: again })).status).toBe(304);
      return [name, text] as const;
    }),
  );
  // Style sheets are sent as one; charts, and all views beside the chat, are loaded when somebody looks at them.
  const loaded = files.filter(
    ([name]) => !/^(charts|worker|(?!panels\/)\w+\/)|^(?!styles).*\.css$/.test(name),
  );
  const sizes = loaded.map(([, text]) => gzipSync(text).length);
  expect(sizes.reduce((all, size) => all + size, gzipSync(page.text).length)).toBeLessThan(60_000);
  for (const path of [
    '../assets.ts',
    'panels/../../api.ts',
    '%2e%2e/assets.ts',
    'nothing.ts',
    'panels',
  ]) {
    expect([path, [400, 404]]).toEqual([
      path,
      expect.arrayContaining([(await served.ask(`/ui/${path}`)).status]),
    ]);
  }
});

test('a browser asks for the files of the page once, and again after an edit', async () => {
  await using served = await serveDashboard();
  const read = async () => {
    const { text } = await served.ask('');
    const paths = [...text.matchAll(/(?:href|src)="\/dashboard(\/ui\/v-[^"]+)"/g)].map(
      ([, path]) => path ?? '',
    );
    const files = await Promise.all(paths.map((path) => served.ask(path)));
    const caching = files.map(({ status, headers }) => [status, headers['cache-control']]);
    expect(new Set(caching.map(String))).toEqual(
      new Set(['200,private, max-age=31536000, immutable']),
    );
    return paths;
  };
  const before = await read();
  // All modules but those that are loaded for one panel are named in the page.
  const named = before.map((path) => path.split('/').slice(3).join('/'));
  const modules = readdirSync(UI, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /^(panels\/)?[\w-]+\.ts$/.test(name) && !/^(charts|worker)\.ts$/.test(name),
  );
  expect(named).toEqual(expect.arrayContaining([...modules, 'styles.css', 'strings.en.json']));
  expect(await read()).toEqual(before);
  const file = join(UI, 'icon.svg');
  const { atime, mtime } = statSync(file);
  try {
    utimesSync(file, atime, new Date(mtime.getTime() + 1_000));
    const after = await read();
    expect(after.filter((path) => before.includes(path))).toEqual([]);
    // A page that is open still gets what there is, and keeps none of it.
    const old = await served.ask(before[0] ?? '');
    expect([old.status, old.headers['cache-control']]).toEqual([200, 'no-cache']);
  } finally {
    utimesSync(file, atime, mtime);
  }
});

test('the modules of the page are typed for browsers, which the rest of the tree is not', () => {
  using config = new ContributionFolder({
    'tsconfig.json': JSON.stringify({
      extends: join(HOME, 'tsconfig.json'),
      compilerOptions: { lib: ['es2024', 'dom', 'dom.iterable'], types: [], incremental: false },
      include: [join(HOME, 'ui')],
      exclude: [],
    }),
  });
  const tsc = join(HOME, 'node_modules/.bin/tsc');
  const run = spawnSync(tsc, ['-p', config.dir], { encoding: 'utf8' });
  expect([run.status, run.stdout]).toEqual([0, '']);
});

test('each panel has its words in each language', () => {
  const files = ['main', ...panelsOf().map((name) => `panels/${name}`)];
  for (const name of files) {
    const [en, de] = ['en', 'de'].map((language) =>
      Object.keys(JSON.parse(readFileSync(join(UI, `${name}.${language}.json`), 'utf8'))),
    );
    expect([name, de]).toEqual([name, en]);
    // A panel's views are in a folder of its name.
    const folder = name.replace('panels/', '');
    const views = readdirSync(UI).includes(folder) ? readdirSync(join(UI, folder)) : [];
    for (const path of [name, ...views.map((view) => `${folder}/${view.slice(0, -3)}`)]) {
      const source = readFileSync(join(UI, `${path}.ts`), 'utf8');
      for (const [, key] of source.matchAll(/\bt\('([^']+)'/g))
        expect([path, en]).toEqual([path, expect.arrayContaining([key])]);
    }
  }
});

test('whoever has only a keyboard can scroll whatever scrolls', () => {
  const files = readdirSync(UI, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const unreached = files.filter((name) =>
    /class="scroll[^"]*"(?! tabindex="0")/.test(readFileSync(join(UI, name), 'utf8')),
  );
  expect(unreached).toEqual([]);
});

test('each refusal of the assistant has its words in each language', () => {
  const folder = join(UI, '../src/services');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^dashboard(\.|\/).*ts$/.test(name),
  );
  const [en, de] = ['en', 'de'].map((language) =>
    Object.keys(JSON.parse(readFileSync(join(UI, `main.${language}.json`), 'utf8'))),
  );
  // What is no text of the page's own, such as what a command has said, is quoted.
  const own = /new ApiProblem\(\s*(?:'[^']*'|`[^`]*`)(?:,\s*'([a-z-]+)')?,?\s*\)/g;
  const used = files.flatMap((name) =>
    [...readFileSync(join(folder, name), 'utf8').matchAll(own)].map(([, words]) => words),
  );
  expect(used.length).toBeGreaterThan(10);
  for (const words of ['push-inside', ...used]) {
    expect(en).toContain(`problem-${words}`);
    expect(de).toContain(`problem-${words}`);
  }
});

function panelsOf(): readonly string[] {
  return readdirSync(join(UI, 'panels')).flatMap((name) =>
    name.endsWith('.ts') ? [name.slice(0, -3)] : [],
  );
}

test('a link lets in one browser; without, with a used one, or from another page nothing is told', async () => {
  await using served = await serveDashboard(undefined, FAR);
  const { ask } = served;
  for (const path of ['/api/chat/chats', '/api/settings/me', '/stream', '/api/health/logs']) {
    expect([path, (await ask(path)).status]).toEqual([path, 401]);
  }
  const code = new URL(await served.link()).hash.slice(1);
  const foreign = [{ origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }];
  for (const headers of foreign) {
    expect((await ask('/enter', post({ code, name: 'Evil' }, headers))).status).toBe(403);
  }
  const entered = await ask('/enter', post({ code, name: 'Firefox' }));
  expect(entered.status).toBe(200);
  expect((await ask('/enter', post({ code, name: 'Thief' }))).status).toBe(403);
  expect((await ask('/enter', post('{'))).status).toBe(403);
  const cookie = (entered.headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';
  expect((await ask('/api/settings/me', { headers: { cookie } })).status).toBe(200);
  const rebound = { cookie, host: 'evil.example' };
  expect((await ask('/api/settings/me', { headers: rebound })).status).toBe(421);
  for (const headers of foreign) {
    const said = post({ jid: 'terminal:main', text: 'hi' }, { cookie, ...headers });
    expect((await ask('/api/chat/say', said)).status).toBe(403);
  }
  expect(
    served.store.history.page('terminal:main', null, 50).map(({ text }) => text),
  ).not.toContain('hi');
});

test('a browser that may look changes nothing, and one that may speak gives no commands', async () => {
  await using served = await serveDashboard();
  const [reader, talker] = [await served.enter('read'), await served.enter('talk')];
  for (const { name, actions } of await discoverApis()) {
    for (const [action, { method, scope }] of Object.entries(actions)) {
      const path = `/api/${name}/${action}`;
      const status = async (headers: Record<string, string>) =>
        (await served.ask(path, { method, headers, body: {} })).status;
      if (scope !== 'read') expect([path, await status(reader)]).toEqual([path, 403]);
      if (scope === 'admin') expect([path, await status(talker)]).toEqual([path, 403]);
      if (method === 'POST') expect(scope).not.toBe('read');
    }
  }
  const say = (text: string, jid = 'terminal:main') =>
    served.ask('/api/chat/say', post({ jid, text }, talker));
  for (const text of ['/restart', ' /tasks', 'help', '?', '/STATUS now']) {
    expect([text, (await say(text)).status]).toEqual([text, 400]);
  }
  expect((await say('hello', FAMILY)).status).toBe(200);
  await isIdle(served);
  expect(served.chat.sent.map(({ text }) => text)).toEqual(['pong']);
  // While the owner is asked something, a word from such a browser could be the answer.
  await served.terminal.say('/unregister Family delete');
  await vi.waitFor(() => expect(served.store.asks.inChat('terminal:main')).toHaveLength(1));
  expect((await say('yes')).status).toBe(400);
  expect(served.store.groups.byJid(FAMILY)).not.toBeNull();
});

test('a browser that may do less than the owner is shown no code that would let it do more', async () => {
  const machine = `join ${'aB3_'.repeat(90)}`;
  let code = '';
  await using served = await serveDashboard(async (_, { onText }) => {
    for (const piece of [
      'it is ',
      `#${code.slice(0, 9)}`,
      code.slice(9, 30),
      code.slice(30),
      ' .',
    ]) {
      onText?.(piece);
    }
    return answers(`${machine} and https://docs.example/#${code}`);
  }, FAR);
  const [reader, owner] = [await served.enter('read'), await served.enter()];
  const told = { reader: '', owner: '' };
  for (const [who, headers] of Object.entries({ reader, owner })) {
    const stream = await served.begin('/stream', { headers });
    stream.setEncoding('utf8').on('data', (chunk) => {
      told[who as 'reader' | 'owner'] += chunk;
    });
    stream.on('error', () => {});
  }
  await vi.waitFor(() => expect(Object.values(told).join()).toMatch(/hello[\s\S]*hello/));
  code = new URL(await served.link()).hash.slice(1);
  await served.terminal.say('which code was it?');
  await isIdle(served);
  await vi.waitFor(() => expect(told.reader).toContain('"text":" ."'));
  await vi.waitFor(() => expect(told.owner).toContain('"text":" ."'));
  const jid = 'terminal%3Amain';
  const entries = served.store.history.page('terminal:main', null, 50);
  const paths = [
    `/api/chat/history?jid=${jid}`,
    ...entries.flatMap(({ kind, seq, text }) => [
      `/api/chat/whole?jid=${jid}&kind=${kind}&seq=${seq}`,
      `/api/chat/whole?jid=${jid}&kind=${kind}&seq=${seq}&from=${text.indexOf(code) + 3}`,
    ]),
    ...['browser', code, code.slice(0, 5), 'docs.example'].map(
      (text) => `/api/chat/search?text=${text}`,
    ),
    '/api/turns/newest',
  ];
  const read = async (headers: { cookie: string }) =>
    (await Promise.all(paths.map((path) => served.ask(path, { headers })))).map(({ text }) => text);
  const ofOwner = (await read(owner)).join('\n');
  const ofReader = (await read(reader)).join('\n');
  const parts = [code.slice(3), code.slice(0, 30), code.slice(10, 35), 'aB3_'.repeat(60)];
  for (const part of parts) expect(ofOwner).toContain(part);
  for (const part of parts) expect(ofReader).not.toContain(part);
  expect(ofReader).toContain('It may then do all that you may');
  expect(ofReader).not.toMatch(/[▀▄█]/);
  expect(told.owner.match(/"text":"[^"]*"/g)?.join('')).toContain(code.slice(9, 30));
  for (const part of [...parts, code.slice(24)]) expect(told.reader).not.toContain(part);
});

test('parts of files come in their order, from the browser that began, and only so many at a time', () => {
  const uploads = openUploads({ setTimer: () => () => {} });
  const part = Buffer.from('abc');
  expect(uploads.add('one', 3, part)).toBe(0);
  expect(uploads.add('one', 0, part)).toBe(3);
  expect(uploads.add('one', 0, part)).toBe(3);
  expect(uploads.add('one', 3, Buffer.alloc(0))).toBe(3);
  expect(uploads.take('other')).toBeNull();
  expect(Buffer.from(uploads.take('one') ?? []).toString()).toBe('abc');
  expect(uploads.take('one')).toBeNull();
  for (let count = 0; count < 200; count += 1) uploads.add(`empty ${count}`, 0, Buffer.alloc(0));
  expect(() => uploads.add('more', 0, Buffer.alloc(0))).toThrow('Too many files');
  expect(uploads.add('empty 7', 0, part)).toBe(3);
  expect(() => uploads.add('empty 7', 3, Buffer.alloc(20_000_000))).toThrow('20 MB at most');
});

test('a file is handed over under any name and without any right, and is shown only if it is a picture', async () => {
  const html = Buffer.from('<script>alert(1)</script>');
  const query = new URLSearchParams({ jid: FAMILY, kind: 'message', seq: '1', number: '0' });
  for (const name of ['half \ud83d', 'a"\r\nx: y.png', '../../x.svg', '🐈']) {
    const file = async () => ({ name, content: html, mimeType: 'image/svg+xml' });
    const { status, headers = {} } = await answerWithFile({ owner: { file } as never }, query);
    expect([name, status, headers['content-type']]).toEqual([
      name,
      undefined,
      'application/octet-stream',
    ]);
    expect(headers['content-disposition']).toMatch(/^attachment; filename\*=UTF-8''[\w.~!%-]+$/);
    expect(headers['content-security-policy']).toContain('sandbox');
  }
});

test('a file that is gone is told from one that its far end did not give', async () => {
  const query = new URLSearchParams({ jid: FAMILY, kind: 'message', seq: '1', number: '0' });
  const statusWith = async (file: () => Promise<null>) =>
    (await answerWithFile({ owner: { file } as never }, query)).status;
  expect(await statusWith(async () => null)).toBe(404);
  expect(await statusWith(() => Promise.reject(new Error('not connected')))).toBe(502);
});

test('the owner talks, gives commands and answers their questions from the page', async () => {
  await using served = await serveDashboard();
  const headers = await served.enter();
  const read = async (path: string) => JSON.parse((await served.ask(path, { headers })).text);
  const jid = encodeURIComponent('terminal:main');
  expect(await read('/api/chat/chats')).toMatchObject({
    own: 'terminal:main',
    chats: [{ name: 'Terminal' }, { name: 'Family' }],
  });
  await served.ask('/api/chat/say', post({ jid: 'terminal:main', text: 'ping' }, headers));
  await isIdle(served);
  const { entries } = await read(`/api/chat/history?jid=${jid}`);
  expect(entries.slice(-2)).toMatchObject([
    { kind: 'message', text: 'ping', isOwner: true },
    { kind: 'answer', text: 'pong' },
  ]);
  expect(await read('/api/chat/search?text=ping')).toMatchObject([
    { text: 'ping', chat: 'Terminal' },
  ]);
  const command = post({ text: 'unregister Family delete' }, headers);
  expect((await served.ask('/api/chat/command', command)).status).toBe(200);
  await vi.waitFor(() => expect(served.store.asks.inChat('terminal:main')).toHaveLength(1));
  const { questions } = await read(`/api/chat/history?jid=${jid}`);
  expect(questions).toMatchObject([
    { isForOwner: true, options: [{ word: 'yes' }, { word: 'no' }] },
  ]);
  const [{ id }] = questions;
  const answer = post({ jid: 'terminal:main', id, word: 'yes' }, headers);
  expect((await served.ask('/api/chat/answer', answer)).text).toContain('noted');
  await isIdle(served);
  expect(served.store.groups.byJid(FAMILY)).toBeNull();
  expect((await served.ask('/api/chat/answer', answer)).status).toBe(400);
});

test('a page follows a turn, and a revoked browser is cut off at once', async () => {
  const go = Promise.withResolvers<void>();
  await using served = await serveDashboard(async (_, { onText }) => {
    onText?.('po');
    await go.promise;
    onText?.('ng');
    return answers('pong');
  });
  const headers = await served.enter('read');
  const stream = await served.begin('/stream', { headers });
  expect(stream.headers['content-type']).toContain('text/event-stream');
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  stream.on('error', () => {});
  await vi.waitFor(() => expect(text).toContain('"hello"'));
  await served.terminal.say('ping');
  await vi.waitFor(() => expect(text).toContain('"text":"po"'));
  const late = await served.begin('/stream', { headers });
  let caughtUp = '';
  late.setEncoding('utf8').on('data', (chunk) => {
    caughtUp += chunk;
  });
  late.on('error', () => {});
  await vi.waitFor(() => expect(caughtUp).toContain('"text":"po"'));
  go.resolve();
  await vi.waitFor(() => expect(text).toContain('"kind":"ended"'));
  expect(text).not.toContain('"kind":"log"');
  const admin = await served.enter();
  const devices = JSON.parse((await served.ask('/api/settings/devices', { headers: admin })).text);
  const { id } = devices.find(({ scope }: { scope: string }) => scope === 'read');
  const closed = new Promise((resolve) => stream.once('close', resolve));
  expect((await served.ask('/api/settings/revoke', post({ id }, admin))).status).toBe(200);
  await closed;
  expect((await served.ask('/api/chat/chats', { headers })).status).toBe(401);
});

test('nothing is kept for a browser that does not read what it is sent', async () => {
  const listeners = new Set<(event: LiveEvent) => void>();
  const watch: Watch = (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const { signal } = new AbortController();
  const stream = streamOf({ watch, setTimer: () => () => {} }, { signal, isForOwner: true });
  expect((await stream.next()).value).toContain('hello');
  for (let count = 0; count < 3_000; count += 1) {
    for (const tell of listeners) tell({ kind: 'chat', jid: FAMILY });
  }
  expect(listeners.size).toBe(0);
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test('what a skill would change, who owns a line and what the doctor finds come from the engine', async () => {
  await using served = await serveDashboard();
  const headers = await served.enter('read');
  const as = async (path: string, by: typeof headers) =>
    JSON.parse((await served.ask(path, { headers: by })).text);
  const read = (path: string) => as(path, headers);
  expect((await read('/api/code/overview')).skills).toMatchObject([
    { name: 'dice', applied: false },
  ]);
  const plan = await read('/api/code/plan?verb=apply&name=dice');
  expect(plan.data.patches).toMatchObject([{ path: 'src/dice.ts', kind: 'add', added: 1 }]);
  expect(plan.data.patches[0].patch).toContain('+export const sides = 6;');
  const unknown = await served.ask('/api/code/plan?verb=apply&name=..%2Fdice', { headers });
  expect(unknown.status).toBe(400);
  const apply = ['apply', 'dice', '--yes', '--no-install', '--cwd', served.project.dir];
  expect((await runClaw(apply)).code).toBe(0);
  expect(await read('/api/code/why?path=src%2Fdice.ts')).toMatchObject({
    ranges: [{ owner: 'dice', kind: 'skill', from: 1, text: 'export const sides = 6;\n' }],
  });
  // A browser that only reads is shown an answer again for some seconds; the owner asks anew.
  const owner = await served.enter();
  expect((await as('/api/code/overview', owner)).skills).toMatchObject([
    { name: 'dice', applied: true },
  ]);
  expect(await read('/api/health/channels')).toMatchObject([
    { name: 'terminal', state: 'connected', chats: 1 },
    { name: 'chat', state: 'connected', chats: 1, receivedAt: null },
  ]);
  expect((await read('/api/health/doctor')).report.findings.length).toBeGreaterThan(3);
  expect(await read('/api/costs/days')).toMatchObject({ names: { main: 'Terminal' } });
  expect((await read('/api/groups/all')).map(({ folder }: { folder: string }) => folder)).toContain(
    'family',
  );
});

test('no value of a setting leaves the assistant', async () => {
  await using served = await serveDashboard();
  const headers = await served.enter();
  const { text } = await served.ask('/api/settings/names', { headers });
  expect(JSON.parse(text)).toEqual([
    { name: 'ASSISTANT_NAME', help: 'What the assistant is called', isSet: true, line: 1 },
    { name: 'ANTHROPIC_API_KEY', help: 'A key', isSet: true, line: 2 },
  ]);
  for (const { name, actions } of await discoverApis()) {
    for (const [action, { method }] of Object.entries(actions)) {
      if (method !== 'GET') continue;
      const told = await served.ask(`/api/${name}/${action}`, { headers });
      expect([`${name}/${action}`, told.text]).not.toEqual([
        `${name}/${action}`,
        expect.stringContaining('very-secret'),
      ]);
    }
  }
  const memory = await served.ask('/api/groups/memory?folder=main', { headers });
  expect(memory.text).toContain('likes tea');
});
