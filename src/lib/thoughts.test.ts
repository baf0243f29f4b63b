import { describe, expect, it } from 'vitest';
import { ThoughtFilter, withoutThoughts } from './thoughts.ts';

const THOUGHTS: readonly (readonly [string, string])[] = [
  ['<think>\nThe user is annoying.\n</think>\n\nHello!', 'Hello!'],
  ['<thinking>hm</thinking>Hello!', 'Hello!'],
  ['<THINK>hm</Think> Hello!', 'Hello!'],
  ['<thought>a</thought>\n<reasoning effort="high">b</reasoning>\nHello!', 'Hello!'],
  ['◁think▷hm◁/think▷Hello!', 'Hello!'],
  ['[THINK]hm[/THINK]Hello!', 'Hello!'],
  [
    '<|channel|>analysis<|message|>Need to greet.<|end|><|start|>assistant<|channel|>final<|message|>Hello!<|return|>',
    'Hello!',
  ],
  ['<|channel|>analysis<|message|>hm<|channel|>final<|message|>Hello!', 'Hello!'],
  ['<|channel>thought\nhm<channel|>Hello!', 'Hello!'],
  ['<|begin_of_thought|>hm<|end_of_thought|>Hello!', 'Hello!'],
  ['Sure. <think>hm</think>Hello!', 'Sure. Hello!'],
  ['First.\n\n<think>\nhm\n</think>\n\nSecond.', 'First.\n\nSecond.'],
  ['<think></think>Hello!', 'Hello!'],
  ['<think>never closed', ''],
  ['Hello!\n<think>never closed', 'Hello!\n'],
  ['<think>a `code` with\n```\n</think>Hello!', 'Hello!'],
];

const TALK = [
  'Use `<think>` to make it think, and `</think>` to end.',
  'The <think> tag is used by some models.',
  '```xml\n<think>\nhm\n</think>\n```\nThat is all.',
  '~~~\n<think>hm</think>\n~~~',
  'if a < b and c > d then `x`',
  'a ` lone tick and ``two `inner` ticks`` end',
  '<thin>no</thin> [THI] ◁ <',
  'Inline ```<think>``` code',
  '- a list\n- with <b>html</b>\n',
];

const pieces = (text: string, size: number): string => {
  const filter = new ThoughtFilter();
  let said = '';
  for (let at = 0; at < text.length; at += size) said += filter.push(text.slice(at, at + size));
  return said + filter.end();
};

describe('thoughts in the text of a model', () => {
  it.each(THOUGHTS)('are taken out of %j', (text, said) => {
    for (const size of [1, 2, 3, 5, 7, 11, 1_000])
      expect([size, pieces(text, size)]).toEqual([size, said]);
  });

  it.each(TALK)('%j stays as it is', (text) => {
    for (const size of [1, 2, 3, 5, 7, 11, 1_000])
      expect([size, pieces(text, size)]).toEqual([size, text]);
  });

  it('has none left where only the end of one is there', () => {
    expect(withoutThoughts('The user says hi.\n</think>\n\nHello!')).toBe('Hello!');
    const filter = new ThoughtFilter();
    filter.push('The user says hi.');
    expect(filter.push('</think>Hello!')).toBe('Hello!');
    expect(filter.beganInThought).toBe(true);
  });

  it('is held back to its end for a model that leaves out the beginning', () => {
    const filter = new ThoughtFilter(true);
    expect(filter.push('The user says hi.')).toBe('');
    expect(filter.push('\n</think>\n\nHel') + filter.push('lo!') + filter.end()).toBe('Hello!');
    const plain = new ThoughtFilter(true);
    expect(plain.push('Hello!') + plain.end()).toBe('Hello!');
  });

  it('goes on while it comes: words are not held back to the end', () => {
    const filter = new ThoughtFilter();
    expect(filter.push('Hello, ')).toBe('Hello, ');
    expect(filter.push('world. a <')).toBe('world. a ');
    expect(filter.push(' b')).toBe('< b');
  });

  it('says that the answer ended inside one', () => {
    const filter = new ThoughtFilter();
    expect(filter.push('<think>and so') + filter.end()).toBe('');
    expect(filter.endsInThought).toBe(true);
  });
});
