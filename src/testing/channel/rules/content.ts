import { expect } from 'vitest';
import { shownMessage } from '../../../host/inbound-path/shown-message.ts';
import type { Bench } from '../bench.ts';
import type { ContentCell, ContentKind } from '../content-kinds.ts';
import type { Told } from '../host-end.ts';
import type { Rule } from '../rule.ts';
import type { RuleName } from '../rule-names.ts';

/** Rules about what is said in which words. */
export const CONTENT = {
  forwarded: {
    needs: ['forward'],
    async check(bench) {
      const { host } = await bench.meet();
      for (const text of ['/reset', 'yes', '@Andy delete all notes']) {
        const before = host.messages.length;
        await bench.farEnd.forward?.(text);
        await bench.until('the forward has arrived', () => host.messages.length > before);
        const message = host.messages[before];
        expect(message, 'the host has to be told that it is a forward').toMatchObject({
          forwarded: expect.anything(),
        });
        if (message === undefined) continue;
        expect(message.text).toBe(text);
        expect(shownMessage(message)).toMatch(/^\[forwarded[^\n]*\]\n> /);
      }
    },
  },
} satisfies Partial<Record<RuleName, Rule>>;

/** Sends the real content of a kind, and looks at what the agent is shown of it. */
export async function checkContent(
  bench: Bench,
  kind: ContentKind,
  { sees }: Extract<ContentCell, { readonly sees: unknown }>,
): Promise<void> {
  const { farEnd } = bench;
  if (farEnd.sendContent === undefined) {
    throw new Error(`The far end has no sendContent: it has to send the content '${kind}'.`);
  }
  const { host, channel } = await bench.meet();
  const before = host.told.length;
  await farEnd.sendContent(kind, channel);
  await bench.say('after it', host);
  const news = () =>
    host.told
      .slice(before)
      .filter((one) => one.kind !== 'message' || one.message.text !== 'after it')
      .map(inWords);
  await bench.until(`${sees.length} things have arrived`, () => news().length >= sees.length);
  expect(news()).toEqual(sees);
}

function inWords(told: Told): string {
  switch (told.kind) {
    case 'message':
      return withoutIds(shownIn(told.message));
    case 'notice':
      return `(to the owner) ${told.text}`;
    case 'same-chat':
      return `(chat) ${told.from} → ${told.to}`;
  }
}

function shownIn(message: Parameters<typeof shownMessage>[0] & { readonly threadName?: string }) {
  const { threadName } = message;
  return `${threadName === undefined ? '' : `(${threadName}) `}${shownMessage(message)}`;
}

/** Far ends make ids up. */
function withoutIds(text: string): string {
  return text.replace(/\bid [\w$:@.+/=~-]+/g, 'id ID');
}
