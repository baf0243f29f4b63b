import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { CLAW } from '../../../src/testing/claw/claw.ts';
import { skills } from '../../../src/testing/owner/owner-chat.ts';
import { type Served, serveDashboard } from './assistant.ts';
import { go, openBrowser, playwright, seriousFindings } from './chromium.ts';

const visit = openBrowser();
const WAIT = { timeout: 150_000 };

const CODE = 'export const one = 1;\n\nexport const two = 2;\n\nexport const three = 3;\n';
const A = CODE.replace('= 2', "= 'a'");
const B = CODE.replace('= 2', "= 'b'");
/** The core that the skills of these tests are for. */
const CORE = { 'package.json': '{ "name": "demo", "version": "1.0.0" }\n', 'src/a.ts': CODE };
/** A core whose lines have moved on since both files of the skill were written. */
const DISAGREEING = {
  ...CORE,
  'src/a.ts': A,
  'src/b.txt': 'mine\n',
  ...skills({
    two: { modify: { 'src/a.ts': [CODE, B] }, add: { 'src/b.txt': 'theirs \u202edaer\n' } },
  }),
};
/** No model proposes anything. */
const settings = { ANTHROPIC_API_KEY: '' };

const press = (page: Page, command: string) =>
  page.click(`main button.command:has(code:text-is("/${command}"))`);
const file = ({ project }: Served, path: string) => readFileSync(join(project.dir, path), 'utf8');

async function apply({ project }: Served, ...names: string[]): Promise<void> {
  // As the user that the assistant runs as: what another has done is not taken back.
  const env = { PATH: process.env['PATH'], HOME: project.dir };
  const args = [CLAW, 'apply', ...names, '--yes', '--no-install', '--cwd', project.dir];
  await promisify(execFile)(process.execPath, args, { env });
}

test.skipIf(playwright === null)(
  'all sides of a conflict stand beside each other, and the choices of the chat decide it in any order',
  async () => {
    await using served = await serveDashboard(undefined, '', { files: DISAGREEING, settings });
    const { page, context, faults } = await visit(served);
    await go(page, 'code/plan/apply/two');
    await page.waitForSelector('.sides figure:nth-child(1) .removed:text("two = 2")', WAIT);
    await page.waitForSelector('.sides figure:nth-child(2) .added:text("two = \'a\'")');
    await page.waitForSelector('.sides figure:nth-child(3) .added:text("two = \'b\'")');
    // A line stands in the order that it has.
    await page.waitForSelector('.sides .added:text("theirs \\\\u202edaer")');
    await press(page, 'add-two');
    await page.waitForSelector('.drawer :text("core against two")', WAIT);
    await go(page, 'code/conflicts');
    await page.waitForSelector('h1:text("apply two")', WAIT);
    expect(await page.locator('.conflict .choices code').allTextContents()).toEqual([
      '/conflicts src/b.txt release',
      '/conflicts src/b.txt two',
      '/conflicts src/b.txt both',
      '/conflicts src/b.txt reversed',
      '/conflicts src/a.ts release',
      '/conflicts src/a.ts two',
    ]);
    expect(await seriousFindings(page)).toEqual([]);
    await press(page, 'conflicts src/a.ts release');
    await page.waitForSelector('.conflict:has-text("src/a.ts") .good:text("decided by you")', WAIT);
    // It may be decided again.
    await press(page, 'conflicts src/a.ts two');
    await page.waitForSelector('.conflict:has-text("src/a.ts") pre:text("two = \'b\'")', {
      ...WAIT,
      state: 'attached',
    });
    expect(file(served, 'src/a.ts')).toBe(A);
    await press(page, 'conflicts src/b.txt release');
    await page.click('.drawer button:text-is("yes")', WAIT);
    await vi.waitFor(() => expect(served.project.restarts).toBe(1));
    expect(file(served, 'src/a.ts')).toBe(B);
    expect(file(served, 'src/b.txt')).toBe('mine\n');
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'the checks and tests of a skill are seen while they run, with what they print and how they end',
  async () => {
    const files = {
      'claw.config.yaml': "check: ['sh check.sh']\n",
      'check.sh': 'echo the first line\nsleep 0.3\necho the last line\n',
    };
    await using served = await serveDashboard(undefined, '', { files, settings });
    const { page, context, faults } = await visit(served);
    await page.evaluate(`seen = []; new MutationObserver(() => {
      const printed = document.querySelector('.stages .running pre');
      if (printed !== null) seen.push(printed.textContent);
    }).observe(document.body, { childList: true, subtree: true, characterData: true })`);
    await go(page, 'code/plan/apply/dice');
    await press(page, 'add-dice');
    await page.click('.drawer button:text-is("Yes")', WAIT);
    await page.waitForSelector('.drawer .proof :text("published")', WAIT);
    expect(await page.evaluate('seen[0]')).toBe('the first line');
    const check = page.locator('.stages li:has-text("check: sh check.sh")');
    expect(await check.getAttribute('class')).toBe('passed');
    expect(await check.locator('pre').textContent()).toBe('the first line\nthe last line');
    expect(await page.locator('.stages li').allTextContents()).toContainEqual(
      expect.stringContaining('Publishing'),
    );
    expect(await seriousFindings(page)).toEqual([]);
    // Who closes the drawer finds it in the panel.
    await page.click('.drawer header button');
    await page.waitForSelector('main .proof :text("check: sh check.sh")');
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'a check that fails shows its output, and nothing is published',
  async () => {
    const files = {
      'claw.config.yaml': "check: ['sh check.sh']\n",
      'check.sh': 'test ! -e src/dice.ts || { echo the dice are loaded; exit 1; }\n',
    };
    await using served = await serveDashboard(undefined, '', { files, settings });
    const { page, context } = await visit(served);
    await go(page, 'code/plan/apply/dice');
    await press(page, 'add-dice');
    await page.click('.drawer button:text-is("Yes")', WAIT);
    await page.waitForSelector('.drawer .proof [role="status"]:text("did not pass")', WAIT);
    expect(await page.locator('.stages .failed details[open] pre').first().textContent()).toBe(
      'the dice are loaded',
    );
    expect(served.project.restarts).toBe(0);
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'every line of a file tells where it comes from, by a click and by the keyboard',
  async () => {
    const files = {
      ...CORE,
      ...skills({ b: { modify: { 'src/a.ts': [CODE, B] } } }),
    };
    await using served = await serveDashboard(undefined, '', { files, settings });
    await apply(served, 'b');
    writeFileSync(join(served.project.dir, 'src/a.ts'), B.replace('= 3', '= 33'));
    const { page, context, faults } = await visit(served);
    await go(page, 'code/why/src/a.ts');
    await page.waitForSelector('.line[data-line="5"]', WAIT);
    expect(await page.locator('.range .who').allTextContents()).toEqual([
      'release',
      'b',
      'release',
      'your edits',
    ]);
    await page.click('.line[data-line="3"]');
    await page.waitForSelector('aside h3:text("Line 3: b")');
    await page.waitForSelector('aside code:text("npx claw why src/a.ts:3")');
    await page.waitForSelector('aside li code:text("apply b")');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('aside h3:text("Line 5: your edits")');
    expect(await seriousFindings(page)).toEqual([]);
    await go(page, 'code/why/src/a.ts:1');
    await page.waitForSelector('aside h3:text("Line 1: release")');
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'what is newer and what can be taken back is shown as a plan before the yes',
  async () => {
    await using served = await serveDashboard(undefined, '', { settings });
    await apply(served, 'dice');
    const { dir } = served.project;
    const manifest = join(dir, 'skills/dice/manifest.yaml');
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('1.0.0', '1.1.0'));
    writeFileSync(join(dir, 'skills/dice/add/src/dice.ts'), 'export const sides = 20;\n');
    const { page, context, faults } = await visit(served);
    await go(page, 'code');
    await page.click('a:text("1 updates, and undo")', WAIT);
    await page.waitForSelector('.card:has-text("dice") .tag:text("1.0.0 → 1.1.0")', WAIT);
    await page.click('main button:text("Look for a newer release")');
    await page.waitForSelector('main :text("no git remote")', WAIT);
    await page.click('a:text("Undo “apply dice”?")');
    await page.waitForSelector('.lines .removed:text("export const sides = 6;")', WAIT);
    await go(page, 'code/plan/upgrade/dice');
    await page.waitForSelector('.lines .added:text("export const sides = 20;")', WAIT);
    await press(page, 'upgrade dice');
    await page.click('.drawer button:text-is("Yes")', WAIT);
    await vi.waitFor(() => expect(served.project.restarts).toBe(1));
    expect(file(served, 'src/dice.ts')).toBe('export const sides = 20;\n');
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'a grid tells which skills go together, and is kept until a skill is another',
  async () => {
    const files = {
      ...CORE,
      ...skills({
        b: { modify: { 'src/a.ts': [CODE, B] } },
        c: { modify: { 'src/a.ts': [CODE, CODE.replace('= 2', "= 'c'")] } },
        d: { modify: { 'src/a.ts': [CODE, CODE.replace('= 3', '= 33')] } },
      }),
    };
    await using served = await serveDashboard(undefined, '', { files, settings });
    const { page, context, faults } = await visit(served);
    await go(page, 'code/together');
    await page.click('.grid button[aria-label="b + c: conflict"]', WAIT);
    await page.waitForSelector('.card p:has(code:text("src/a.ts")):has-text("same lines")');
    await page.waitForSelector('.grid button[aria-label="b + d: go together"]');
    expect(await page.locator('.grid th[scope="row"]').allTextContents()).toEqual(['b', 'c', 'd']);
    await page.click('main label:text("Also skills")');
    await page.waitForSelector('.grid th[scope="row"]:text("dice")');
    const headers = await served.enter('admin');
    const at = async () =>
      JSON.parse((await served.ask('/api/code/together', { headers })).text).at;
    const first = await at();
    expect(await at()).toBe(first);
    const manifest = join(served.project.dir, 'skills/d/manifest.yaml');
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('1.0.0', '1.0.1'));
    expect(await at()).toBeGreaterThan(first);
    expect(faults).toEqual([]);
    await context.close();
  },
);
