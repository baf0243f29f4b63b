/*
 * The rules that every channel keeps, as tests. A channel's tests call it with its far end:
 *
 *   import { channel } from '../../../src/channels/pigeon.ts';
 *   import { channelFrom } from '../../../src/testing/channel/bench.ts';
 *   import { testChannel } from '../../../src/testing/channel/conformance.ts';
 *   import { NOTATIONS } from '../../../src/testing/channel/shown.ts';
 *
 *   testChannel({
 *     name: 'pigeon', limit: 2_000, notation: NOTATIONS.markdown, tokenSetting: 'PIGEON_TOKEN',
 *     lacks: { '2 GB': 'pigeons carry no files' },
 *     start: async () => {
 *       const loft = await startLoft();       // speaks the real protocol, on loopback
 *       return {
 *         create: (context, variation) => channelFrom(channel, settingsFor(loft, variation), context),
 *         jidOf: (place) => (place === 'direct' ? 'pigeon:ada' : null),
 *         sendText: (from, place, text) => loft.say(from === 'friend' ? 'ada' : 'eve', text),
 *         sent: () => loft.letters.map(({ text }) => ({ place: 'direct', text })),
 *         [Symbol.asyncDispose]: () => loft.close(),
 *         // And the abilities that far-end.ts names: goDown, comeUp, limitNext, revoke …
 *       };
 *     },
 *   });
 *
 * A rule whose ability is missing fails until `lacks` says why the channel has no such thing; it is then skipped with
 * that reason. With CLAW_CHANNEL_RESULTS=<folder> the outcome is noted there, for docs/channels.md.
 */
import { afterAll, test } from 'vitest';
import { Bench } from './bench.ts';
import { CONTENT_KIND_NAMES, CONTENT_KINDS } from './content-kinds.ts';
import type { ChannelSubject } from './far-end.ts';
import { type ChannelResults, noteResults } from './results.ts';
import type { Rule } from './rule.ts';
import { RULE_NAMES, RULES, type RuleName } from './rule-names.ts';
import { ACCESS } from './rules/access.ts';
import { BAD_INPUT } from './rules/bad-input.ts';
import { CONNECTION } from './rules/connection.ts';
import { CONTENT, checkContent } from './rules/content.ts';
import { RECEIVING } from './rules/receiving.ts';
import { SENDING } from './rules/sending.ts';
import { TEXT } from './rules/text.ts';

const CHECKS = {
  ...RECEIVING,
  ...CONTENT,
  ...ACCESS,
  ...CONNECTION,
  ...SENDING,
  ...TEXT,
  ...BAD_INPUT,
} satisfies Record<RuleName, Rule>;

/** Registers a test for each rule. */
export function testChannel(subject: ChannelSubject): void {
  const { name, lacks } = subject;
  const outcomes: ChannelResults['outcomes'] = {};
  const content = testContent(subject);
  for (const rule of RULE_NAMES) {
    const reason = lacks[rule];
    outcomes[rule] = reason === undefined ? 'broken' : { lacks: reason };
    test(`${name}, ${rule}: ${RULES[rule]}`, async (context) => {
      if (reason !== undefined) context.skip(`${name}, ${rule}: ${reason}`);
      await keeps(subject, rule);
      outcomes[rule] = 'kept';
    });
  }
  afterAll(() => {
    const folder = process.env['CLAW_CHANNEL_RESULTS'];
    if (folder !== undefined) noteResults(folder, { channel: name, outcomes, content });
  });
}

/** Registers a test for each kind of content. @returns what becomes of each, filled in as they run */
function testContent(subject: ChannelSubject): ChannelResults['content'] {
  const { name, content: cells } = subject;
  const seen: ChannelResults['content'] = {};
  for (const kind of CONTENT_KIND_NAMES) {
    const cell = cells[kind];
    seen[kind] = 'none' in cell ? cell : 'broken';
    if ('none' in cell) continue;
    test(`${name}, content ${kind}: ${CONTENT_KINDS[kind]}`, async () => {
      await using bench = await Bench.open(subject);
      await checkContent(bench, kind, cell);
      seen[kind] = cell;
    });
  }
  return seen;
}

async function keeps(subject: ChannelSubject, name: RuleName): Promise<void> {
  const { needs = [], onDisk = false, check }: Rule = CHECKS[name];
  await using bench = await Bench.open(subject, { onDisk });
  const missing = needs.filter((ability) => bench.farEnd[ability] === undefined);
  if (missing.length > 0) {
    throw new Error(
      `The far end has no ${missing.join(', ')}. Add it, or say in lacks['${name}'] why ${subject.name} has no such thing.`,
    );
  }
  await check(bench);
}
