import { expect } from 'vitest';
import { graphemesOf } from '../../../lib/graphemes.ts';
import { CLUSTERS } from '../../clusters.ts';
import type { Bench } from '../bench.ts';
import type { Rule } from '../rule.ts';
import type { RuleName } from '../rule-names.ts';
import type { Format, Shown } from '../shown.ts';

const SAMPLE = [
  'Some **bold words**, *slanted words* and `code < words`, see [the page](https://example.org/a).',
  '',
  '- one',
  '- two',
  '',
  '```ts',
  'if (a < b && c) return "d";',
  '```',
  '',
  'Plain: 1 < 2 & 3 > 2, snake_case_name, "quoted", 🐢.',
].join('\n');

/** Rules about what becomes of a text. */
export const TEXT = {
  split: {
    async check(bench) {
      const { limit, lengthOf = (text) => read(bench, text).text.length } = bench.subject;
      const paragraph = (at: number) => `${at} ${'word '.repeat(Math.ceil(limit / 12))}🐢 end`;
      const long = 'x'.repeat(limit) + '🐢'.repeat(Math.ceil(limit / 4));
      // The limit falls into one of the characters of each, and none has a space to be cut at. (The kit tries all offsets.)
      const clusters = CLUSTERS.slice(0, 5).map((each) => 'x'.repeat(limit - 5) + each.repeat(6));
      const paragraphs = Array.from({ length: 6 }, (_, at) => paragraph(at));
      const text = [...paragraphs, long, ...clusters].join('\n\n');
      const parts = await sentFor(bench, text);
      expect(parts.length).toBeGreaterThan(2);
      for (const part of parts) {
        expect(lengthOf(part), 'a part is longer than the limit').toBeLessThanOrEqual(limit);
        expect(part.isWellFormed(), 'a character is cut in half').toBe(true);
      }
      const shown = parts.map((part) => read(bench, part).text);
      expect(squeezed(shown.join(''))).toBe(squeezed(text));
      // Where a part ended within a character, there would be two instead.
      expect(shown.flatMap(charactersOf), 'a character is cut').toEqual(charactersOf(text));
    },
  },

  'code blocks': {
    async check(bench) {
      const { limit, notation } = bench.subject;
      const line = (at: number) => `const name${at} = "${'<'.repeat(20)}";`;
      const lines = Array.from({ length: Math.ceil((2.5 * limit) / 40) }, (_, at) => line(at));
      const text = `Look:\n\n\`\`\`ts\n${lines.join('\n')}\n\`\`\`\n\nDone.`;
      const shown = (await sentFor(bench, text)).map((part) => read(bench, part));
      expect(shown.length).toBeGreaterThan(1);
      if (notation.formats.includes('code block')) {
        const blocks = shown.map((each) => spansOf(each, 'code block').join('\n'));
        expect(linesOf(blocks.join('\n'))).toEqual(lines);
        expect(shown.map(({ text: each }) => each).join('\n')).not.toContain('```');
      } else {
        const all = linesOf(shown.map(({ text: each }) => each).join('\n'));
        expect(all.filter((each) => each.startsWith('const'))).toEqual(lines);
      }
    },
  },

  marks: {
    async check(bench) {
      const { limit, notation } = bench.subject;
      const piece = (at: number) =>
        `**bold number ${at}** and \`code number ${at}\`, [link number ${at}](https://example.org/${at})`;
      const count = Math.ceil((2.5 * limit) / 40);
      // One line, so that it has to be split in the middle of it.
      const text = Array.from({ length: count }, (_, at) => piece(at)).join(' then ');
      const shown = (await sentFor(bench, text)).map((part) => read(bench, part));
      expect(shown.length).toBeGreaterThan(1);
      for (const format of ['bold', 'code', 'link'] as const) {
        if (!notation.formats.includes(format)) continue;
        const expected = Array.from({ length: count }, (_, at) => `${format} number ${at}`);
        expect(shown.flatMap((each) => spansOf(each, format))).toEqual(expected);
      }
      const words = squeezed(shown.map(({ text: each }) => each).join(' '));
      for (let at = 0; at < count; at += 1) expect(words).toContain(`linknumber${at}`);
    },
  },

  formatting: {
    async check(bench) {
      const { formats } = bench.subject.notation;
      const parts = await sentFor(bench, SAMPLE);
      const shown = parts.map((part) => read(bench, part));
      const spans = (format: Format) => shown.flatMap((each) => spansOf(each, format));
      const expected: Readonly<Record<Format, string>> = {
        bold: 'bold words',
        italic: 'slanted words',
        code: 'code < words',
        link: 'the page',
        'code block': 'if (a < b && c) return "d";',
      };
      for (const format of formats) expect(spans(format), format).toContain(expected[format]);
      const text = shown.map((each) => each.text).join('\n');
      for (const words of Object.values(expected)) expect(text).toContain(words);
      expect(text).toContain('Plain: 1 < 2 & 3 > 2, snake_case_name, "quoted", 🐢.');
      expect(text.indexOf('one')).toBeLessThan(text.indexOf('two'));
    },
  },
} as const satisfies Partial<Record<RuleName, Rule>>;

async function sentFor(bench: Bench, text: string): Promise<readonly string[]> {
  const { channel } = await bench.meet();
  await channel.send({ id: 'm1', jid: bench.jidOf('direct'), text });
  return bench.sentAfter(0);
}

function read({ subject }: Bench, text: string): Shown {
  return subject.notation.read(text);
}

function spansOf({ spans }: Shown, format: Format): readonly string[] {
  return spans.filter((span) => span.format === format).map(({ text }) => text);
}

function charactersOf(text: string): readonly string[] {
  return graphemesOf(text).filter((each) => each.trim() !== '');
}

/** Returns a text without spaces, which may go where it is split. */
function squeezed(text: string): string {
  return text.replace(/\s+/g, '');
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}
