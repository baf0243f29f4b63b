import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { answers } from '../../../src/testing/assistant.ts';
import { FAMILY, serveDashboard } from './assistant.ts';
import { ATTACKS } from './attacks.ts';
import { go, openBrowser, openTab, playwright, seriousFindings } from './chromium.ts';

const visit = openBrowser();

/** A group whose name is as long as may be, in one word. */
const LONG = 'chat:long';
const NAME = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunte';

/** Whether a script ran, and how many elements of the page could run one. */
const FOUND = `({
  attacked,
  bad: [...document.querySelectorAll('main *')].filter(
    (element) =>
      /^(script|iframe|object|embed|img|base|meta|style|link|math)$/i.test(element.localName) ||
      [...element.attributes].some(
        ({ name, value }) => /^on/.test(name) || /^\\s*(javascript|data|vbscript):/i.test(value),
      ),
  ).length,
})`;

test.skipIf(playwright === null)(
  'the owner is let in by the link, talks, sees the answer grow, and answers a question by a button',
  async () => {
    const more = Promise.withResolvers<void>();
    await using served = await serveDashboard(async (_, { onText }) => {
      onText?.('The kettle ');
      await more.promise;
      onText?.('is **on**.');
      return answers('The kettle is **on**.');
    });
    const { page, context, faults } = await visit(served);
    expect(page.url()).toBe(`${served.origin}/dashboard`);
    await go(page, 'chat/terminal%3Amain');
    await page.fill('.composer textarea', 'tea?');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.live :text("The kettle")');
    expect(await page.isVisible('.composer button:has-text("Stop")')).toBe(true);
    more.resolve();
    await page.waitForSelector('.said:not(.live) strong:text("on")');
    // A second tab of this browser shares the stream of the first.
    const streams: string[] = [];
    const tab = await openTab(context, faults);
    tab.on(
      'request',
      (request) => request.url().endsWith('/stream') && streams.push(request.url()),
    );
    await tab.goto(`${served.origin}/dashboard#/chat/terminal%3Amain`);
    await tab.waitForSelector('.said:not(.live) strong:text("on")');
    await page.fill('.composer textarea', '/unregister Family delete');
    await page.keyboard.press('Enter');
    await tab.waitForSelector('.asked button:text("Yes")');
    expect(streams).toEqual([]);
    await page.click('.asked button:text("Yes")');
    await tab.waitForSelector('.said :text("Everything of Family is deleted.")');
    expect(served.store.groups.byJid(FAMILY)).toBeNull();
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'a connection that breaks while the page is opened leaves no empty page: it is loaded again, and the link still lets in',
  async () => {
    await using served = await serveDashboard();
    const { page, context } = await visit(served);
    for (const path of ['enter', 'ui/**/panels.json', 'api/settings/me', 'api/chat/chats']) {
      await context.clearCookies();
      await page.route(`**/dashboard/${path}`, (route) => route.abort('connectionreset'), {
        times: 1,
      });
      await page.goto('about:blank');
      await page.goto(await served.link());
      await page.waitForSelector('.list a:has-text("Family")');
      expect(page.url()).toBe(`${served.origin}/dashboard`);
    }
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'what was written for a chat and not sent yet waits there, also across a reload and a server that is away',
  async () => {
    await using served = await serveDashboard();
    const { page, context } = await visit(served);
    const field = page.locator('.composer textarea');
    await go(page, 'chat/terminal%3Amain');
    await field.fill('half a thought');
    await page.setInputFiles('.attach input', {
      name: 'list.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('tea'),
    });
    await page.click('.list a:has-text("Family")');
    await page.waitForSelector('.talk h1:text("Family")');
    await expect.poll(() => field.inputValue()).toBe('');
    expect(await page.locator('.chosen').count()).toBe(0);
    await field.fill('for the family');
    await page.click('.list a:has-text("yours")');
    await page.waitForSelector('.chosen >> text=list.txt');
    expect(await field.inputValue()).toBe('half a thought');
    await page.route('**/dashboard/api/chat/**', (route) => route.abort());
    await page.click('.composer button.main');
    await page.waitForSelector('.composer .problem');
    expect(await field.inputValue()).toBe('half a thought');
    await page.waitForSelector('.chosen >> text=list.txt');
    await page.unroute('**/dashboard/api/chat/**');
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe('half a thought');
    await page.click('.composer button.main');
    await page.waitForSelector('.said.mine :text("half a thought")');
    await page.reload();
    await page.waitForSelector('.said.mine :text("half a thought")');
    expect(await field.inputValue()).toBe('');
    await page.click('.list a:has-text("Family")');
    await expect.poll(() => field.inputValue()).toBe('for the family');
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'every panel shows what it is for, in both languages and without a fault',
  async () => {
    await using served = await serveDashboard();
    await served.terminal.say('ping');
    for (const [locale, width, colorScheme, words] of [
      [
        'en',
        1280,
        'light',
        [
          'Send',
          'Past turns',
          'dice',
          'Backups',
          'groups/family',
          'There is no task',
          'By model',
          'ANTHROPIC_API_KEY',
        ],
      ],
      [
        'de',
        390,
        'dark',
        [
          'yours',
          'Frühere Züge',
          'dice',
          'Sicherungen',
          'groups/family',
          'Es gibt keine Aufgabe',
          'Nach Modell',
          'ANTHROPIC_API_KEY',
        ],
      ],
    ] as const) {
      const { page, context, faults } = await visit(served, {
        locale,
        colorScheme,
        viewport: { width, height: 800 },
      });
      const links = "[...document.querySelectorAll('nav a')]";
      const read = `${links}.map((link) => link.getAttribute('href'))`;
      const places = await page.evaluate<string[]>(read);
      expect(places).toHaveLength(words.length);
      for (const [at, place] of places.entries()) {
        await go(page, place.replace('#/', ''));
        const word = words[at] === 'yours' ? 'deiner' : words[at];
        await page.waitForSelector(`main :text("${word}")`);
        const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
        expect([place, isWide]).toEqual([place, false]);
      }
      await go(page, 'code/plan/apply/dice');
      await page.waitForSelector('.lines .added:text("export const sides = 6;")');
      expect(faults).toEqual([]);
      await context.close();
    }
  },
);

test.skipIf(playwright === null)(
  'a hundred ways to bring in a script stay text, wherever strangers write',
  async () => {
    await using served = await serveDashboard(async () => answers(ATTACKS.join('\n\n')));
    const { store } = served;
    expect(new Set(ATTACKS).size).toBe(100);
    for (const [at, text] of ATTACKS.entries()) {
      const message = { jid: FAMILY, id: `x${at}`, sender: text, senderName: text, isOwner: false };
      store.messages.add({ ...message, text, sentAt: at }, at);
      store.outbox.add({ messageId: `y${at}`, jid: FAMILY, text }, at);
      const jid = `chat:x${at}`;
      store.chats.see({ jid, channel: 'chat', name: text, isDirect: false }, 1);
      const group = { jid, folder: `x${at}`, name: text, triggerWord: null };
      store.groups.register({ ...group, needsTrigger: false, isMain: false }, 1);
    }
    await served.terminal.say('attack');
    const { page, context, faults } = await visit(served);
    await page.evaluate('attacked = 0; alert = () => { attacked = 1; }');
    for (const place of [
      `chat/${encodeURIComponent(FAMILY)}`,
      'chat/terminal%3Amain',
      'groups',
      'turns',
      'costs',
    ]) {
      await go(page, place);
      await page.waitForSelector('main .said, main .card, main h2');
      for (const older of await page.$$('.log .entries > button')) await older.click();
    }
    await go(page, 'chat');
    for (const text of ['<script>', 'onerror', 'javascript']) {
      await page.fill('[role="search"] input', text);
      await page.keyboard.press('Enter');
      await page.waitForSelector('.list small, .hint[role="status"]');
    }
    const found = await page.evaluate(FOUND);
    expect(found).toEqual({ attacked: 0, bad: 0 });
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'on the phone a chat that is opened from the list shows what was said last',
  async () => {
    await using served = await serveDashboard();
    const { page, context } = await visit(served, { viewport: { width: 390, height: 780 } });
    for (let count = 1; count <= 30; count += 1) await served.terminal.say(`message ${count}`);
    await page.waitForSelector('.said >> text="message 30"', { state: 'attached' });
    await go(page, 'chat/terminal%3Amain');
    await page.waitForSelector('.talk .log');
    await expect
      .poll(() =>
        page.evaluate(`(() => {
          const { scrollHeight, scrollTop, clientHeight } = document.querySelector('.log');
          return clientHeight > 0 && scrollHeight > clientHeight ? Math.abs(scrollTop) : null;
        })()`),
      )
      .toBeLessThan(2);
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'who goes on before a chat is here sees where they went last, and the way back leads through all of them',
  async () => {
    await using served = await serveDashboard();
    const { page, context, faults } = await visit(served);
    const title = (name: string) => page.locator(`.talk h1:text-is("${name}")`).waitFor();
    await go(page, 'chat/terminal%3Amain');
    await title('Terminal');
    const answer = Promise.withResolvers<void>();
    await page.route('**/chat/history?jid=chat%3Afamily', async (route) => {
      await answer.promise;
      await route.continue();
    });
    // The second one is slow: its name is there before its words.
    await page.evaluate("location.hash = '#/chat/chat%3Afamily'; location.hash = '#/tasks'");
    await page.locator('main h1:text-is("Tasks")').waitFor();
    await page.goBack();
    await title('Family');
    await page.goBack();
    await title('Terminal');
    answer.resolve();
    await page.goForward();
    await title('Family');
    await page.locator('.talk .hint:text("Nothing was said here yet.")').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'the page says that the assistant is gone, and asks for a link when it is taken out',
  async () => {
    await using served = await serveDashboard();
    const { page, context } = await visit(served);
    const admin = await served.enter();
    const devices = JSON.parse(
      (await served.ask('/api/settings/devices', { headers: admin })).text,
    );
    const { id } = devices.find(({ name }: { name: string }) => name.startsWith('Chrome'));
    await served.ask('/api/settings/revoke', { method: 'POST', headers: admin, body: { id } });
    await page.waitForSelector('.offline, .alone');
    await page.waitForSelector('.alone :text("npx claw dashboard")');
    expect(await page.isVisible('nav')).toBe(false);
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'a group’s memory is edited, shows each change, and is undone; a write against an older version is refused with both texts',
  async () => {
    await using served = await serveDashboard();
    const file = join(served.project.dir, 'groups/family/CLAUDE.md');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '# Family\n\n- Bob eats no fish\n');
    const { page, context, faults } = await visit(served);
    await go(page, 'groups');
    const card = page.locator('article.card', { hasText: 'groups/family' });
    await card.locator('.memory > summary').click();
    await card.locator('.memory li:text("Bob eats no fish")').waitFor();
    await card.locator('button:text("Edit")').click();
    await card.locator('textarea').fill('# Family\n\n- Bob eats no fish\n- Ada likes tea\n');
    await card.locator('button:has-text("Save")').click();
    await page.waitForSelector('.drawer :text("Written: the memory of Family")');
    expect(readFileSync(file, 'utf8')).toBe('# Family\n\n- Bob eats no fish\n- Ada likes tea\n');
    await card.locator('.versions summary:has-text("by you")').click();
    await card.locator('.lines .added:text("Ada likes tea")').waitFor();
    // Somebody else writes while the owner edits.
    await card.locator('button:text("Edit")').click();
    await card.locator('textarea').fill('# Family\n\n- mine\n');
    writeFileSync(file, '# Family\n\n- theirs\n');
    await card.locator('button:has-text("Save")').click();
    await page.waitForSelector('.drawer :text("Nothing was written")');
    await page.waitForSelector('.drawer :text("theirs")');
    await card.locator('.editor .removed:text("theirs")').waitFor();
    await card.locator('.editor .added:text("mine")').waitFor();
    expect(readFileSync(file, 'utf8')).toBe('# Family\n\n- theirs\n');
    await card.locator('button:text("Discard")').click();
    await card.locator('.versions > li >> nth=0').locator('summary').click();
    await card.locator('.versions > li >> nth=0').locator('button:has-text("Undo")').click();
    await expect
      .poll(() => readFileSync(file, 'utf8'))
      .toBe('# Family\n\n- Bob eats no fish\n- Ada likes tea\n');
    // What is being written stays while something else is looked at.
    await card.locator('button:text("Edit")').click();
    await card.locator('textarea').fill('');
    await card.locator("button:has-text(' empty ')").click();
    await expect.poll(() => readFileSync(file, 'utf8')).toBe('');
    await card.locator('.hint:text("Nothing is written down yet.")').waitFor();
    await card.locator('button:text("Edit")').click();
    await card.locator('textarea').fill('# Family');
    await go(page, 'tasks');
    await card.waitFor({ state: 'detached' });
    await go(page, 'groups');
    await card.locator('.memory > summary').click();
    await card.locator('button:has-text("Save")').click();
    await expect.poll(() => readFileSync(file, 'utf8')).toBe('# Family\n');
    // Rules go by the commands of the chat.
    await card.locator('.rules > summary').click();
    await card.getByLabel('Word that calls it').fill('@home');
    await card.locator('button:has-text("/trigger")').first().click();
    await expect.poll(() => served.store.groups.byJid(FAMILY)?.triggerWord).toBe('@home');
    await card.getByLabel('Budget').fill('3 usd');
    await card.locator('button:has-text("/budget")').click();
    await card.locator(':text("at most $3.00 a day")').waitFor();
    await card.locator('select').selectOption('send_file');
    await card.locator('button:has-text("/tools off send_file")').click();
    await expect.poll(() => served.store.toolSwitches.offIn('family')).toEqual(['send_file']);
    expect(faults).toEqual([]);
    await context.close();
  },
);

/** The smallest picture there is: one grey point. */
const PNG = Buffer.concat([
  Buffer.from('89504e470d0a1a0a', 'hex'),
  pngPart('IHDR', Buffer.from('00000001000000010800000000', 'hex')),
  pngPart('IDAT', deflateSync(Buffer.from([0, 128]))),
  pngPart('IEND', Buffer.alloc(0)),
]);

function pngPart(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

test.skipIf(playwright === null)(
  'a picture and a file go to the agent and come back, the model and the conversation are changed, and each button shows its command',
  async () => {
    const prompts: string[] = [];
    await using served = await serveDashboard(async ({ prompt }) => {
      prompts.push(prompt);
      return answers('Done: ![the plan](plan.png)');
    });
    const folder = join(served.project.dir, 'groups/main');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'plan.png'), PNG);
    const { page, context, faults } = await visit(served);
    await go(page, 'chat/terminal%3Amain');
    // More than one part.
    const long = Buffer.alloc(300_000, 'tea ');
    await page.setInputFiles('.attach input', [
      { name: 'kettle.png', mimeType: 'image/png', buffer: PNG },
      { name: '<b>notes.html', mimeType: 'text/html', buffer: long },
    ]);
    await page.locator('.chosen >> text=kettle.png').waitFor();
    await page.fill('.composer textarea', 'what is this?');
    await page.keyboard.press('Enter');
    const mine = page.locator('.said.mine');
    const isDrawn = async (picture: Locator) =>
      expect.poll(() => picture.evaluate((one) => Object(one).naturalWidth)).toBe(1);
    await isDrawn(mine.locator('img[alt="kettle.png"]'));
    // What could be a page is a download in a sandbox.
    const link = mine.locator('a:text("<b>notes.html (300 kB)")');
    const path = String(await link.getAttribute('href')).replace('/dashboard', '');
    const headers = await served.enter('read');
    const file = await served.ask(path, { headers });
    expect([file.text.length, file.headers]).toMatchObject([
      300_000,
      {
        'content-type': 'application/octet-stream',
        'content-disposition': "attachment; filename*=UTF-8''%3Cb%3Enotes.html",
        'content-security-policy': expect.stringContaining('sandbox'),
      },
    ]);
    expect((await served.ask(path)).status).toBe(401);
    expect((await served.ask(path.replace('number=0', 'number=1'), { headers })).status).toBe(404);
    await isDrawn(page.locator('.said.theirs img[alt="plan.png"]').first());
    await expect
      .poll(() => prompts.join('\n'))
      .toMatch(
        /what is this\?\n\[image "kettle\.png", 1 kB, id press:[\s\S]+\[document "<b>notes\.html"/,
      );
    // The line for the agent is not for people.
    expect(await mine.locator('text=/id press/').count()).toBe(0);
    await page.setInputFiles('.attach input', {
      name: 'empty.txt',
      mimeType: 'text/plain',
      buffer: Buffer.alloc(0),
    });
    await page.locator('.composer .problem:text("empty.txt is empty")').waitFor();
    await page.locator('.talk header button').click();
    await page.locator('.commands code').first().waitFor();
    await page.getByLabel('Another model').fill('acme/road-1');
    await page.locator('.commands button:has-text("/model acme/road-1 for")').waitFor();
    await page.locator('.commands button:has-text("/reset")').click();
    await page.locator('.drawer :text("begins a new conversation")').waitFor();
    // A question is asked in the drawer alone.
    await page.keyboard.press('Escape');
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'the calendar, the budgets, those who may call and the files of the code are shown; on the phone all panels fit',
  async () => {
    await using served = await serveDashboard();
    const { store } = served;
    for (const [sender, senderName] of [
      ['chat:ada', 'Ada'],
      ['chat:bob', 'Bob'],
    ] as const) {
      const said = { jid: FAMILY, id: sender, sender, senderName, isOwner: false };
      store.messages.add({ ...said, text: 'hi', sentAt: 1 }, 1);
    }
    store.senders.limitGroup(FAMILY, ['chat:ada', 'chat:bob']);
    store.budgets.set('family', { microUsd: 3_000_000, tokens: null });
    store.chats.see({ jid: LONG, channel: 'chat', name: NAME, isDirect: false }, 1);
    const long = { jid: LONG, folder: 'long', name: NAME, triggerWord: null };
    store.groups.register({ ...long, needsTrigger: false, isMain: false }, 1);
    const said = { jid: LONG, id: NAME, sender: 'chat:ada', senderName: NAME, isOwner: false };
    store.messages.add({ ...said, text: NAME, sentAt: 1 }, 1);
    await served.terminal.say('/tasks add "Morning mail" cron 30 8 * * *: say what is on today');
    await served.terminal.say('/tasks add every 2 hours: look at the mail');
    await served.terminal.say('/tasks add every 15 minutes: look at the door');
    await served.terminal.say('/tasks add "Plants" cron 0 7 * * 1-5: water them');
    await expect.poll(() => store.tasks.open()).toHaveLength(4);
    const { page, context, faults } = await visit(served, {
      locale: 'de',
      viewport: { width: 390, height: 780 },
    });
    const endOf = async (selector: string) => {
      const box = await page.locator(selector).last().boundingBox();
      return (box?.x ?? 999) + (box?.width ?? 0);
    };
    expect(await endOf('nav a')).toBeLessThanOrEqual(390);
    // A name without a space pushes nothing off the screen.
    await go(page, `chat/${encodeURIComponent(LONG)}`);
    await page.locator(`.talk h1:text("${NAME}")`).waitFor();
    for (const one of ['.composer button.main', '.talk h1', '.talk > header button', '.said'])
      expect([one, await endOf(one)]).toEqual([one, expect.toSatisfy((x: number) => x <= 390)]);
    await go(page, 'tasks');
    // One of today is over or not.
    await expect
      .poll(() => page.locator('.calendar li :text("Morning mail")').count())
      .toBeGreaterThan(12);
    await page.locator('.calendar :text-matches("12-mal bis")').first().waitFor();
    // Of what is due more often than is told, the last days say that it goes on.
    await page.locator('.calendar > li:last-child :text("Abstand: 15 Minuten")').waitFor();
    expect(await page.locator('.calendar > li:last-child :text-matches("-mal bis")').count()).toBe(
      1,
    );
    for (const words of [/^täglich um 08:30/, /^Abstand: 2 Stunden/, /^Montag – Freitag, um 07:00/])
      await page.locator('article p').getByText(words).waitFor();
    await page.locator('button:has-text("/tasks run 1 now")').click();
    await page.locator('article >> nth=0').locator('summary').click();
    await page.locator('article td:text("beantwortet")').waitFor();
    await page.keyboard.press('Escape');
    await go(page, 'costs');
    await page.locator('.budgets td:text("Family")').waitFor();
    await page.locator('.budgets td:has-text("/ $3.00")').waitFor();
    await page.locator('td:text("1: Morning mail")').waitFor();
    await go(page, 'groups');
    await page.locator('article :text("nur diese ihn rufen: Ada, Bob.")').waitFor();
    await go(page, 'code/files');
    await page.locator('.tree a:has-text("skills/")').click();
    await page.locator('.tree a:has-text("dice/")').click();
    await page.locator('.tree a:text("manifest.yaml")').click();
    await page.locator('h1:has-text("skills/dice/manifest.yaml")').waitFor();
    expect(faults).toEqual([]);
    // Refusals are in the words of the page, also where nothing comes at all.
    await go(page, 'code/files/data');
    await page.locator('.problem:text("Dieser Ordner enthält keinen Code.")').waitFor();
    await go(page, 'chat/terminal%3Amain');
    await page.route('**/dashboard/api/chat/say', (route) => route.abort());
    await page.fill('.composer textarea', 'Tee?');
    await page.keyboard.press('Enter');
    await page.locator('.problem:text("Der Assistent ist nicht erreichbar.")').waitFor();
    await context.close();
  },
);

/** Adds an album as a channel hands it over: each file a message of its own, the words with the last. */
function addAlbum(
  { messages, attachments }: Store,
  words: string,
  files: readonly { readonly kind: 'image' | 'document'; readonly name: string }[],
): readonly number[] {
  return files.map(({ kind, name }, at) => {
    const id = `album-${at}`;
    const line = `[${kind} "${name}", 1 kB, id ${id}]`;
    const text = at === files.length - 1 ? `${words}\n${line}` : line;
    const said = { jid: FAMILY, id, sender: 'chat:ada', senderName: 'Ada', isOwner: false };
    const seq = messages.add({ ...said, text, sentAt: 5 }, 5_000 + at) ?? 0;
    attachments.add(seq, [{ kind, name, mimeType: null, sizeBytes: 900 }]);
    return seq;
  });
}

test.skipIf(playwright === null)(
  'the files of one message stand together: pictures as a gallery that the keyboard turns over, the rest below',
  async () => {
    const prompts: string[] = [];
    await using served = await serveDashboard(async ({ prompt }) => {
      prompts.push(prompt);
      return answers('Seen.');
    });
    const { store } = served;
    addAlbum(store, 'from the garden', [
      { kind: 'image', name: 'one.png' },
      { kind: 'document', name: 'plan.pdf' },
      { kind: 'image', name: 'two.png' },
    ]);
    const other = { jid: FAMILY, id: 'other', sender: 'chat:bob', senderName: 'Bob' };
    store.messages.add({ ...other, isOwner: false, text: 'nice', sentAt: 6 }, 6_000);
    const { page, context, faults } = await visit(served, {
      viewport: { width: 390, height: 780 },
    });
    await page.route('**/dashboard/file?*', (route) =>
      route.fulfill({ contentType: 'image/png', body: PNG }),
    );
    await go(page, `chat/${encodeURIComponent(FAMILY)}`);
    await page.locator('.said :text("nice")').waitFor();
    expect(await page.locator('.said').count()).toBe(2);
    const album = page.locator('.said >> nth=0');
    await album.locator('.words:text-is("from the garden")').waitFor();
    expect(await album.locator('a').allTextContents()).toEqual(['plan.pdf (1 kB)']);
    // Pictures of a messenger are fetched when somebody asks.
    expect(await album.locator('img').count()).toBe(0);
    await album.getByRole('button', { name: 'Show 2 pictures' }).press('Enter');
    const gallery = album.getByRole('list', { name: 'Pictures: 2' });
    await gallery.getByRole('button', { name: 'one.png' }).press('Enter');
    const view = page.getByRole('dialog', { name: 'Pictures: 2' });
    await view.getByText('1 of 2: one.png').waitFor();
    await page.keyboard.press('ArrowRight');
    await view.getByRole('img', { name: 'two.png' }).waitFor();
    await page.keyboard.press('ArrowRight');
    await view.getByText('1 of 2: one.png').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await view.waitFor({ state: 'detached' });
    // The focus is where it was.
    const focused = "document.activeElement?.querySelector('img')?.alt";
    expect(await page.evaluate(focused)).toBe('one.png');
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'a turn that failed has the button that runs it again, until it is answered; other chats stay as they are',
  async () => {
    const world = { isDown: true };
    await using served = await serveDashboard(async () =>
      world.isDown
        ? { kind: 'failed', code: 'MODEL_FAILED', message: 'The model is overloaded.' }
        : answers('here I am'),
    );
    const { store, terminal, chat } = served;
    await terminal.say('hello?');
    await chat.say('@Andy hello?', { jid: FAMILY, isDirect: false });
    await expect.poll(() => store.turns.failed().length).toBe(2);
    const { page, context, faults } = await visit(served);
    await go(page, 'turns');
    const retries = page.locator('td button:has-text("/retry")');
    await expect.poll(() => retries.allTextContents()).toHaveLength(2);
    world.isDown = false;
    await page.locator('tr:has-text("Family") button').click();
    await page.locator('tr:has-text("Family") td.good').waitFor();
    await expect.poll(() => retries.count()).toBe(1);
    expect(store.turns.failed().map(({ jid }) => jid)).toEqual(['terminal:main']);
    expect(faults).toEqual([]);
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'a picture that is gone is told from one that could not be loaded, which is shown when the connection is back',
  async () => {
    await using served = await serveDashboard();
    const names = ['one.png', 'two.png', 'three.png'];
    const album = names.map((name) => ({ kind: 'image', name }) as const);
    const [away, gone, odd] = addAlbum(served.store, 'from the garden', album);
    let isReachable = false;
    let asked = 0;
    const back = Promise.withResolvers<void>();
    const { page, context } = await visit(served);
    await page.route('**/dashboard/file?*', async (route) => {
      const seq = Number(new URL(route.request().url()).searchParams.get('seq'));
      if (seq === gone) return await route.fulfill({ status: 404 });
      const contentType = 'image/png';
      if (seq === odd) return await route.fulfill({ contentType, body: 'no picture' });
      asked += Number(seq === away);
      if (!isReachable) return await route.abort();
      await route.fulfill({ contentType, body: PNG });
    });
    // The stream breaks, and comes back when the test says so.
    let streams = 0;
    await page.route('**/dashboard/stream', async (route) => {
      streams += 1;
      const contentType = 'text/event-stream';
      if (streams === 1)
        return await route.fulfill({ contentType, body: 'data: {"kind":"hello"}\n\n' });
      await back.promise;
      await route.continue();
    });
    await go(page, `chat/${encodeURIComponent(FAMILY)}`);
    await page.reload();
    await page.getByRole('button', { name: 'Show 3 pictures' }).click();
    await page.getByText('one.png could not be loaded.').waitFor();
    await page.getByText('two.png is not kept any more.').waitFor();
    // What the browser cannot show can be taken home.
    await page.locator('a:text("three.png (1 kB)")').waitFor();
    expect(await page.locator('.gallery').count()).toBe(0);
    const before = asked;
    await page.getByRole('button', { name: 'Load again' }).click();
    await expect.poll(() => asked).toBeGreaterThan(before);
    await page.getByText('one.png could not be loaded.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    isReachable = true;
    back.resolve();
    const shown = page.locator('.gallery img[alt="one.png"]');
    await expect.poll(() => shown.evaluate((one) => Object(one).naturalWidth)).toBe(1);
    expect(await page.getByRole('button', { name: 'Load again' }).count()).toBe(0);
    await page.getByText('two.png is not kept any more.').waitFor();
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'a part of the page that does not come is said to be missing, and is there as soon as it can be had',
  async () => {
    await using served = await serveDashboard();
    const { page, context } = await visit(served);
    const missing = new Set(['panels/costs.ts', 'health/channels.ts']);
    await page.route('**/dashboard/ui/**', async (route) => {
      const isMissing = [...missing].some((name) => route.request().url().endsWith(name));
      await (isMissing ? route.abort() : route.continue());
    });
    await page.reload();
    await page.waitForSelector('nav a:has-text("Health")');
    expect(await page.locator('nav a:has-text("Costs")').count()).toBe(0);
    await go(page, 'health');
    await page.getByText('This part of the page did not come.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    missing.clear();
    await page.waitForSelector('main h2:text("Channels")');
    await page.waitForSelector('nav a:has-text("Costs")');
    // It stands where it belongs.
    expect(await page.locator('nav a').allInnerTexts()).toEqual(
      'Chat Turns Code Health Groups Tasks Costs Settings'.split(' '),
    );
    await context.close();
  },
);

test.skipIf(playwright === null)(
  'each channel is listed with its state, as it is at the moment, and with the command that helps',
  async () => {
    await using served = await serveDashboard(undefined, '', {
      files: { 'src/setup/raven.ts': '', 'src/setup/chat.ts': '' },
      silentChannels: [
        { name: 'raven', needs: ['RAVEN_TOKEN'], wrong: [] },
        { name: 'gull', needs: ['GULL_TOKEN'], wrong: [] },
      ],
    });
    const { chat } = served;
    chat.pairing = { title: 'Chat', optionsOf: () => [], wrongUse: () => '' };
    await chat.say('tea at five', { jid: FAMILY, isDirect: false });
    const desk = await visit(served);
    const phone = await visit(served, {
      locale: 'de',
      colorScheme: 'dark',
      viewport: { width: 390, height: 780 },
    });
    const listed = (page: Page, name: string) =>
      page.locator('.channels article', { has: page.locator(`h3:text-is("${name}")`) });
    const onDesk = listed(desk.page, 'chat');
    const onPhone = listed(phone.page, 'chat');
    for (const { page } of [desk, phone]) await go(page, 'health');
    await onDesk.getByText(/^since .+ · last received /).waitFor();
    await onPhone.getByText(/^seit .+ · zuletzt empfangen /).waitFor();
    await onDesk.getByText('1 chat', { exact: true }).waitFor();
    expect(await onDesk.getByText('last sent').count()).toBe(0);
    expect(await onDesk.locator('button, code').count()).toBe(0);
    await listed(desk.page, 'raven').locator('code:text("npx claw setup raven")').waitFor();
    await listed(desk.page, 'gull')
      .getByText('set GULL_TOKEN in .env, then say /restart')
      .waitFor();
    // Nobody uses them.
    expect(await desk.page.locator('.channels .bad').count()).toBe(0);
    // Nothing is loaded again: each of these comes while the page is looked at.
    chat.become({ state: 'failed', detail: 'The far end is away.' });
    await onDesk.getByText('does not work').waitFor();
    await onDesk.getByText('The far end is away.').waitFor();
    await onDesk.getByText(/^away since /).waitFor();
    await onPhone.getByText('geht nicht').waitFor();
    chat.become({ state: 'connecting', detail: null });
    await onDesk.getByText('logging in').waitFor();
    chat.become({ state: 'unpaired', detail: 'The phone has removed this device.' });
    await onDesk.locator('button:has-text("/pair chat")').waitFor();
    await onDesk.locator('code:text("npx claw setup chat")').waitFor();
    await onPhone.getByText('mit keinem Konto verknüpft').waitFor();
    chat.become({ state: 'refused', detail: 'The token is refused.' });
    await onDesk.getByText('waits for you').waitFor();
    await onDesk.locator('button:has-text("/restart")').waitFor();
    for (const { page, faults } of [desk, phone]) {
      expect(await seriousFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      expect(faults).toEqual([]);
    }
    chat.become({ state: 'connected', detail: null });
    await chat.say('@Andy tea?', { jid: FAMILY, isDirect: false });
    await onDesk.getByText(/^since .+ · last sent /).waitFor();
    await onPhone.getByText('verbunden', { exact: true }).waitFor();
    await Promise.all([desk, phone].map(({ context }) => context.close()));
  },
);
