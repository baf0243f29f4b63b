import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { openLiveAnswer } from './live-answer.ts';
import { splitWhole } from './live-markdown.ts';
import { renderMarkdown } from './markdown.ts';

/** A screen as a reader sees it: what stays, and the tail below. */
function screen(separatesBlocks = true) {
  const seen = { lines: '', tail: '', draws: 0 };
  const plain = (text: string) => stripVTControlCharacters(text);
  const answer = openLiveAnswer({
    show(texts, tail) {
      seen.draws += 1;
      seen.lines += texts.map((text) => `${plain(text)}\n`).join('');
      seen.tail = plain(tail);
    },
    render: (markdown) => (separatesBlocks ? renderMarkdown(markdown, 40) : markdown),
    remark: (text) => text,
    separatesBlocks,
  });
  /** Has the answer grow by pieces of this many characters. */
  const write = (id: string, text: string, step: number) => {
    for (let from = 0; from < text.length; from += step) {
      answer.grow({ id, from, text: text.slice(from, from + step) });
    }
  };
  return { seen, answer, write };
}

const TEXT = [
  '# Trains',
  'Some **bold words** and `code`, and a line that is long enough to be broken at its spaces.',
  '- one\n- two\n  - three\n\n- four',
  '| a | b |\n|---|---|\n| 1 | 2 |',
  '```js\nlet a = 1;\n\nlet b = 2;\n```',
  'Title\n=====',
  '1. first\n2. second',
  '> said\nso',
  'The end.',
].join('\n\n');

test.each([1, 2, 3, 7, 50, 1_000])(
  'an answer that grows by %i characters ends as if it had been printed at once',
  (step) => {
    const { seen, answer, write } = screen();
    write('d', TEXT, step);
    answer.print(TEXT, 'd');
    expect(seen.lines).toBe(`${stripVTControlCharacters(renderMarkdown(TEXT, 40))}\n`);
    expect(seen.tail).toBe('');
    const plain = screen(false);
    plain.write('d', TEXT, step);
    plain.answer.print(TEXT, 'd');
    expect(plain.seen.lines).toBe(`${TEXT}\n`);
  },
);

test('whole blocks stay, and the last one is drawn as it grows, without marks that are not closed', () => {
  const { seen, answer } = screen();
  answer.grow({ id: 'd', from: 0, text: 'One **bo' });
  expect(seen).toMatchObject({ lines: '', tail: 'One bo' });
  answer.grow({ id: 'd', from: 8, text: 'ld** word.\n\nTw' });
  expect(seen).toMatchObject({ lines: '', tail: 'One bold word.\n\nTw' });
  answer.grow({ id: 'd', from: 22, text: 'o.\n' });
  expect(seen).toMatchObject({ lines: 'One bold word.\n', tail: '\nTwo.' });
  const { draws } = seen;
  answer.grow({ id: 'd', from: 25, text: '\n' });
  expect(seen.draws).toBe(draws);
  answer.print('Something else', null);
  expect(seen).toMatchObject({ lines: 'One bold word.\nSomething else\n', tail: '\nTwo.' });
});

test('text that does not become the answer is marked, and unprinted text disappears', () => {
  const { seen, answer, write } = screen();
  write('d', 'First.\n\nSecond.\n\nThird\nha', 5);
  answer.print('Stopped.', 'd');
  expect(seen).toMatchObject({
    lines: 'First.\n\nSecond.\n(This was not finished.)\nStopped.\n',
    tail: '',
  });
  seen.lines = '';
  write('e', 'Only one blo', 5);
  answer.print('The model failed.', 'e');
  expect(seen).toMatchObject({ lines: 'The model failed.\n', tail: '' });
  seen.lines = '';
  // Another process begins the same answer once more.
  write('f', 'First.\n\nSec\n', 5);
  write('f', 'Another.', 5);
  answer.print('Another.', 'f');
  expect(seen.lines).toBe('First.\n(This was not finished.)\nAnother.\n');
  seen.lines = '';
  write('g', 'Half a', 5);
  answer.drop();
  answer.drop();
  expect(seen.lines).toBe('Half a\n(This was not finished.)\n');
  // A display that was not there at the beginning shows the end alone.
  answer.grow({ id: 'h', from: 6, text: 'b' });
  answer.print('All of it.', 'h');
  expect(seen.lines).toContain('(This was not finished.)\nAll of it.\n');
});

test('a text that would take minutes to parse is not parsed before it is complete', () => {
  const deep = `${'> '.repeat(5_000)}x\n\ny\n`;
  expect(splitWhole(deep)).toEqual({ whole: '', open: deep });
  const long = `${'word '.repeat(20_000)}\n\nnext\n`;
  expect(splitWhole(long)).toEqual({ whole: '', open: long });
});
