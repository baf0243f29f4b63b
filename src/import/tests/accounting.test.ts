import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { filesLeft, ignored, keysLeft, left, NOT_KNOWN, READ } from '../accounting.ts';
import type { Plan } from '../plan.ts';
import { digests, Installation } from './bench.ts';
import { makeNanoclaw, writeFiles } from './nanoclaw-store.ts';
import { makeOpenclaw } from './openclaw-store.ts';
import { makeHermes, makeNanobot, makeNanoclaw2 } from './other-stores.ts';

/** Each store, the folders whose files are ignored by a rule of their source, and the file of its settings. */
const STORES = {
  'NanoClaw 1': {
    make: () => makeNanoclaw(),
    ignored: /^(container|data\/sessions\/[^/]+\/\.claude\/(projects|skills\/agent-browser))\//,
  },
  'NanoClaw 2': { make: makeNanoclaw2, ignored: null },
  'OpenClaw with files': { make: () => makeOpenclaw('files'), ignored: null },
  'OpenClaw with SQLite': { make: () => makeOpenclaw('sqlite'), ignored: null },
  Hermes: { make: makeHermes, ignored: null },
  nanobot: { make: () => makeNanobot(), ignored: null },
  clawft: { make: () => makeNanobot('.clawft'), ignored: null },
} as const;

/** What the lines of a plan say about the place of a file: its own, or that of a folder above it. */
function linesAbout({ lines }: Plan, root: string, path: string): readonly string[] {
  const places = path.split('/').map((_, at, parts) => parts.slice(0, at + 1).join('/'));
  return lines
    .filter(({ what }) => {
      const named = what.replace(/ \(\d+ of its entries\)$/, '');
      return places.some((place) => named === place || named === join(root, place));
    })
    .map(({ text }) => text);
}

function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === '.' ? ['.'] : [folder, ...foldersAbove(folder)];
}

test.for(Object.keys(STORES) as (keyof typeof STORES)[])(
  'nothing that %s usually has is unknown',
  async (name) => {
    const { plan } = await new Installation().import(STORES[name].make(), { isPlanOnly: true });
    expect(plan.lines.filter(({ text }) => text === NOT_KNOWN)).toEqual([]);
  },
);

test.for(Object.keys(STORES) as (keyof typeof STORES)[])(
  'an unknown file in any folder of %s comes, has a line, or is ignored by a rule',
  async (name) => {
    const here = new Installation();
    const source = STORES[name].make();
    const folders = new Set(digests(source.root).flatMap(([path]) => foldersAbove(String(path))));
    const strangers = [...folders, 'never-seen', 'never-seen/deep']
      .map((folder, at) => join(folder, `stranger-${at}.xyz`))
      .filter((path) => STORES[name].ignored?.test(path) !== true);
    for (const path of strangers) {
      mkdirSync(dirname(join(source.root, path)), { recursive: true });
      writeFileSync(join(source.root, path), `the text of ${path}`);
    }
    const { plan } = await here.import(source, { isTakeOver: true });
    const came = new Set(digests(here.project).map(([, digest]) => digest));
    const stored = new Map(digests(source.root).map(([path, digest]) => [path, digest]));
    const lost = strangers.filter((path) => {
      return !came.has(stored.get(path) ?? '') && linesAbout(plan, source.root, path).length === 0;
    });
    expect(lost).toEqual([]);
    expect(linesAbout(plan, source.root, 'never-seen/x')).toEqual([NOT_KNOWN]);
  },
);

test.for([
  ['OpenClaw', () => makeOpenclaw('files'), 'openclaw.json'],
  ['nanobot', () => makeNanobot(), 'config.json'],
  ['Hermes', makeHermes, 'config.yaml'],
] as const)('an unknown key in the settings of %s has a line', async ([, make, file]) => {
  const source = make();
  writeFiles(source.root, {
    [file]: JSON.stringify({
      channels: { telegram: { glow: true } },
      agents: { defaults: {} },
      novelty: { colour: 'red' },
    }),
  });
  const { plan } = await new Installation().import(source, { isPlanOnly: true });
  const unknown = plan.lines.filter(({ text }) => text === NOT_KNOWN).map(({ what }) => what);
  expect(unknown).toContain(`novelty in ${file}`);
  expect(unknown.some((what) => /^channels(\.telegram\.glow)? in /.test(what))).toBe(true);
});

test('the first rule that matches decides, and a folder of which nothing is known is one line', () => {
  const { root } = makeNanoclaw();
  writeFiles(root, { 'new/a': '', 'new/b/c': '', 'part/known': '', 'part/other': '', 'x.log': '' });
  const rules = {
    'part/known': READ,
    'x.*': left('a log'),
    '*.log': ignored('never reached'),
    ...Object.fromEntries(
      ['.env', 'package.json', 'groups/**', 'store/**', 'data/**'].map((path) => [path, READ]),
    ),
  };
  expect(filesLeft(root, rules)).toEqual([
    { what: 'new', why: NOT_KNOWN },
    { what: 'part/other', why: NOT_KNOWN },
    { what: 'x.log', why: 'a log' },
  ]);
  const settings = { 'a/b': { c: 1 }, list: [{ id: 1, x: 2 }], none: {} };
  expect(keysLeft(settings, 'f.json', { 'list/*/id': READ })).toEqual([
    { what: 'a\u2215b in f.json', why: NOT_KNOWN },
    { what: 'list.0.x in f.json', why: NOT_KNOWN },
  ]);
});
