import { expect, test } from 'vitest';
import { seededRandom } from '../../../testing/random.ts';
import { internLines } from '../interned-lines.ts';
import { contentOf } from '../lines.ts';

test('equal contents have equal numbers, whatever was moved, repeated or ended in another way', () => {
  const random = seededRandom(5);
  const upTo = (most: number) => Math.floor(random() * most);
  for (let run = 0; run < 50; run++) {
    const write = () =>
      Array.from({ length: upTo(30) }, () => `line ${upTo(8)}${upTo(4) === 0 ? '\r\n' : '\n'}`);
    const base = write();
    const ours = [...base.slice(upTo(9)), ...write(), ...base];
    const theirs = [...write(), ...base.slice(0, upTo(20))];
    const { contents, size, ...numbers } = internLines({ base, ours, theirs });
    expect(new Set(contents).size).toBe(size);
    const spelled = (some: Int32Array) => Array.from(some, (number) => contents[number]);
    expect(spelled(numbers.base)).toEqual(base.map(contentOf));
    expect(spelled(numbers.ours)).toEqual(ours.map(contentOf));
    expect(spelled(numbers.theirs)).toEqual(theirs.map(contentOf));
  }
});
