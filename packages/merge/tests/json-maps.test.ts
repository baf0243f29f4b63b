import { expect, test } from 'vitest';
import { mergeText } from '../src/merge-text.ts';
import { seededRandom } from '../testing/random.ts';

const RUNS = Number(process.env['CLAW_RUNS'] ?? 400);
const KEYS = 'amber birch cedar delta ember fjord grove heath inlet jetty knoll larch'.split(' ');

/** A map of JSON: names to texts, or to maps of two of them. */
type Json = ReadonlyMap<string, string>;

function write(map: Json): string {
  return `{\n${[...map].map(([key, value]) => `  "${key}": ${value}`).join(',\n')}\n}\n`;
}

function anyValue(random: () => number): string {
  const number = Math.floor(random() * 9000);
  return random() < 0.4
    ? `{\n    "message": "${number}",\n    "count": ${number}\n  }`
    : `${number}`;
}

function edited(base: Json, random: () => number, names: readonly string[]): Json {
  const rows = [...base];
  for (let edit = Math.floor(random() * 3); edit >= 0; edit--) {
    const at = Math.floor(random() * (rows.length + 1));
    const kind = random();
    const name = names[Math.floor(random() * names.length)] ?? '';
    if (kind < 0.55) {
      if (rows.every(([key]) => key !== name)) rows.splice(at, 0, [name, anyValue(random)]);
    } else if (kind < 0.85) rows.splice(at, 1);
    else if (at < rows.length) rows[at] = [rows[at]?.[0] ?? '', anyValue(random)];
  }
  return new Map(rows);
}

/** Merges by name; null where both sides did different things with one. */
function byName(base: Json, ours: Json, theirs: Json): Json | null {
  const merged = new Map<string, string>();
  for (const key of new Set([...base.keys(), ...ours.keys(), ...theirs.keys()])) {
    const [before, mine, other] = [base.get(key), ours.get(key), theirs.get(key)];
    if (mine !== other && mine !== before && other !== before) return null;
    const value = mine === before ? other : mine;
    if (value !== undefined) merged.set(key, value);
  }
  return merged;
}

test('a conflict in a map of JSON that is resolved has by name what each side did, and nothing twice', () => {
  const random = seededRandom(Number(process.env['CLAW_SEED'] ?? 29));
  let resolved = 0;
  for (let run = 0; run < RUNS; run++) {
    const base = edited(
      new Map(KEYS.slice(0, 4).map((key) => [key, '1'])),
      random,
      KEYS.slice(4, 6),
    );
    const [ours, theirs] = [
      edited(base, random, KEYS.slice(6, 10)),
      edited(base, random, KEYS.slice(8)),
    ];
    const texts = { base: write(base), ours: write(ours), theirs: write(theirs) };
    const { text, conflicts } = mergeText(texts, { path: 'a.json' });
    // Alignment by lines can take equal lines of two maps for one, as git does.
    if (conflicts > 0 || mergeText(texts).conflicts === 0) continue;
    resolved++;
    const expected = byName(base, ours, theirs);
    const names = text.match(/^ {2}"\w+"/gm) ?? [];
    const result = { ...texts, text, names: names.length };
    const wanted = { ...result, names: expected?.size ?? -1 };
    expect(result).toEqual(wanted);
    expect({ ...texts, json: JSON.parse(text) }).toEqual({
      ...texts,
      json: JSON.parse(write(expected ?? new Map())),
    });
  }
  expect(resolved).toBeGreaterThan(RUNS / 10);
});
