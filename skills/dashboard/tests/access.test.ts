import { expect, test } from 'vitest';
import { serveDashboard } from './assistant.ts';
import { axe, go, openBrowser, playwright, seriousFindings } from './chromium.ts';

const visit = openBrowser();
const PANELS = [
  'chat/terminal%3Amain',
  'turns',
  'code',
  'health',
  'groups',
  'tasks',
  'costs',
  'settings',
];
/** Places below a panel. */
const VIEWS = ['code/updates', 'code/together', 'code/plan/apply/dice'];
/** Panels that wait for the engine or the doctor say so until they have the answer. */
const AT_WORK = 'main [role="status"].hint';

test.skipIf(axe === '')(
  'axe finds nothing serious in any panel, in two widths and two colour schemes, and the policy is kept',
  async () => {
    await using served = await serveDashboard();
    await served.terminal.say('ping');
    for (const width of [1280, 390]) {
      const { page, context, faults } = await visit(served, { viewport: { width, height: 800 } });
      await page.evaluate(
        "document.body.append(Object.assign(document.createElement('button'), { id: 'nameless' }))",
      );
      expect(String(await seriousFindings(page))).toContain('button-name: <button id="nameless">');
      await page.evaluate("document.getElementById('nameless').remove()");
      for (const place of [...PANELS, ...VIEWS]) {
        await go(page, place);
        await page.locator('main h1, main .said').first().waitFor();
        await page.locator(AT_WORK).first().waitFor({ state: 'detached' });
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          expect([place, width, colorScheme, await seriousFindings(page)]).toEqual([
            place,
            width,
            colorScheme,
            [],
          ]);
        }
      }
      // What the policy refuses is an error of the console.
      expect(faults).toEqual([]);
      await context.close();
    }
  },
);

/** Where the focus is: its place in the document, whether it is seen and marked. */
const FOCUS = `(() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return null;
  const { outlineStyle, outlineWidth, borderColor } = getComputedStyle(element);
  const { width, height, left, bottom } = element.getBoundingClientRect();
  return {
    at: [...document.querySelectorAll('*')].indexOf(element),
    words: element.localName + ' ' + (element.className || element.id || element.textContent.slice(0, 30)),
    isSeen: width > 0 && height > 0 && left > -100 && bottom > 0,
    isMarked: outlineStyle !== 'none' && parseFloat(outlineWidth) > 0,
  };
})()`;
type Focus = { at: number; words: string; isSeen: boolean; isMarked: boolean } | null;

/** Notes what has the focus when the drawer has come, before anything is painted. */
const FOCUS_OF_DRAWER = `focusOfDrawer = [];
focusWatch = new MutationObserver(() => {
  if (document.querySelector('.drawer') === null) return;
  focusOfDrawer.push(document.activeElement.className);
  focusWatch.disconnect();
});
focusWatch.observe(document.body, { childList: true, subtree: true });`;

test.skipIf(playwright === null)(
  'the keyboard alone reaches everything in every panel, in order, and always shows where it is',
  async () => {
    await using served = await serveDashboard();
    const { page, context, faults } = await visit(served);
    for (const place of PANELS) {
      await go(page, place);
      await page.locator('main h1, main .said').first().waitFor();
      await page.locator(AT_WORK).first().waitFor({ state: 'detached' });
      await page.evaluate('document.activeElement.blur(); getSelection().removeAllRanges()');
      await page.evaluate(
        "document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')",
      );
      await page.keyboard.press('Tab');
      expect([place, await page.evaluate('document.activeElement.className')]).toEqual([
        place,
        'skip',
      ]);
      const met: NonNullable<Focus>[] = [];
      for (let steps = 0; steps < 200; steps += 1) {
        const focus = await page.evaluate<Focus>(FOCUS);
        if (focus === null || focus.at === met[0]?.at) break;
        met.push(focus);
        await page.keyboard.press('Tab');
      }
      expect([place, met.filter(({ isSeen, isMarked }) => !isSeen || !isMarked)]).toEqual([
        place,
        [],
      ]);
      const order = met.map(({ at }) => at);
      expect([place, order]).toEqual([place, order.toSorted((one, other) => one - other)]);
      const reachable =
        await page.evaluate(`[...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
        .filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility({ contentVisibilityAuto: false })).length`);
      expect([place, met.length >= Number(reachable)]).toEqual([place, true]);
    }
    // The skip link leads past the panels' names, and stays in the panel.
    await go(page, 'health');
    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id + location.hash')).toBe(
      'content#/health',
    );
    // What a command says is closed by Escape, and the focus is back where it was.
    const status = page.locator('button.command').first();
    const drawer = page.locator('.drawer');
    for (const isRefused of [false, true]) {
      if (isRefused) {
        expect(faults).toEqual([]);
        await page.route('**/api/chat/command', (route) => route.abort());
      }
      await page.evaluate(FOCUS_OF_DRAWER);
      await status.focus();
      await page.keyboard.press('Enter');
      await drawer.waitFor();
      // Whoever sees it can already close it.
      expect(await page.evaluate('focusOfDrawer')).toEqual(['drawer']);
      if (isRefused) await drawer.locator('.problem').waitFor();
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
      expect(await status.evaluate((button) => button === button.ownerDocument.activeElement)).toBe(
        true,
      );
    }
    await context.close();
  },
);
