import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FIXTURES } from './docs-fixtures.ts';
import { findTranscripts, openSession, type Session } from './transcripts.ts';

const HOME = join(import.meta.dirname, '..');
const PAGES = readdirSync(join(HOME, 'docs')).filter((name) => name.endsWith('.md'));
/** Pages that begin with a list, without a codebase, with a chat that a test of the host runs, with somebody's phone or machine. */
const OTHERS = [
  'budgets.md',
  'channels.md',
  'doctor.md',
  'extending.md',
  'faults.md',
  'dashboard.md', // Its pictures are taken from a real run.
  'getting-started.md',
  'glossary.md',
  'groups.md',
  'memory.md',
  'merging.md', // test/merging-page.test.ts runs its examples.
  'models.md',
  'performance.md',
  'releasing.md',
  'running.md',
  'service.md',
  'shell.md',
  'skills.md',
  'tasks.md',
  'troubleshooting.md',
  'whatsapp.md',
  'writing-a-channel.md',
];

/** `UPDATE_DOCS=1 npx vitest run test/docs.slow.test.ts` writes what the commands print into the pages. */
const isUpdating = process.env['UPDATE_DOCS'] === '1';

describe.each(PAGES.filter((name) => !OTHERS.includes(name)))('docs/%s', (name) => {
  const path = join(HOME, 'docs', name);
  const page = readFileSync(path, 'utf8');

  test('begins with a transcript', () => {
    expect(page).toMatch(/^# .+\n\n<!-- fixture: \S+ -->\n```console\n\$ /);
  });

  test('shows what the commands print', () => {
    const printed = runPage(page);
    if (isUpdating) writeFileSync(path, printed);
    else expect(page).toBe(printed);
  });
});

const DOCUMENTS = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'],
  ...PAGES.map((name) => `docs/${name}`),
];

test.each(DOCUMENTS)('links of %s lead to files that are there', (name) => {
  const path = join(HOME, name);
  const links = [...readFileSync(path, 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)];
  const files = links.flatMap(([, link = '']) => (/^\w+:/.test(link) ? [] : [link]));
  const dead = files.filter((link) => !existsSync(join(dirname(path), link)));
  expect(dead).toEqual([]);
});

test('the README names every page', () => {
  const readme = readFileSync(join(HOME, 'README.md'), 'utf8');
  expect(PAGES.filter((name) => !readme.includes(`](docs/${name})`))).toEqual([]);
});

/** The page with its transcripts as they really go. */
function runPage(page: string): string {
  let session: Session | null = null;
  let printed = '';
  let end = 0;
  try {
    for (const { fixture, body, from, to } of findTranscripts(page)) {
      if (fixture !== null) {
        session?.[Symbol.dispose]();
        session = openSession(fixtureOf(fixture));
      }
      if (session === null) throw new Error('The first transcript of a page names its fixture.');
      printed += page.slice(end, from) + session.run(body);
      end = to;
    }
    return printed + page.slice(end);
  } finally {
    session?.[Symbol.dispose]();
  }
}

function fixtureOf(name: string) {
  const fixture = FIXTURES[name];
  if (fixture === undefined) throw new Error(`test/docs-fixtures.ts has no fixture ${name}.`);
  return fixture;
}
