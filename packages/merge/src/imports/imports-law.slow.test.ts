import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mapVersions, splitLines } from '../lines/lines.ts';
import { appliedRules } from '../merge-lines.ts';
import { mergeText } from '../merge-text.ts';
import { isNode, nodesIn, parseSyntax } from '../syntax/parse.ts';

const RUNS = { numRuns: 4_000 };

/** Imports by their modules: what each takes by name, by the name that it gets. */
type Imports = ReadonlyMap<string, ReadonlyMap<string, string>>;
type Edit = {
  readonly kind: 'add' | 'remove' | 'rename' | 'move' | 'drop' | 'bring' | 'reverse';
  readonly module: string;
  readonly name: string;
  readonly other: string;
};

const module = fc.constantFrom('./a', './b', './c', 'd', 'node:e');
const name = fc.constantFrom(...'pqrstuv');
const names = fc
  .uniqueArray(name, { minLength: 1, maxLength: 4 })
  .map((list) => new Map(list.map((each) => [each, each])));
const imports: fc.Arbitrary<Imports> = fc
  .uniqueArray(fc.tuple(module, names), { maxLength: 4, selector: ([each]) => each })
  .map((list) => distinct(new Map(list)));
const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom('add', 'remove', 'rename', 'move', 'drop', 'bring', 'reverse'),
  module,
  name,
  other: name,
});
const layout = fc.record({
  isWide: fc.boolean(),
  end: fc.constantFrom(';', ''),
  isRequire: fc.constant(false),
});
const versions = fc
  .record({
    base: imports,
    ours: fc.array(edit, { maxLength: 3 }),
    theirs: fc.array(edit, { maxLength: 3 }),
    layout,
    isRequire: fc.boolean(),
  })
  .map(({ base, ours, theirs, layout: { isWide, end }, isRequire }) => {
    const [mine, other] = [ours, theirs].map((edits) => distinct(edits.reduce(apply, base)));
    const said = (some: Imports = new Map()) => textOf(some, { isWide, end, isRequire });
    return {
      imports: { base, ours: mine ?? base, theirs: other ?? base },
      texts: { base: said(base), ours: said(mine), theirs: said(other) },
    };
  });

describe('imports that both sides changed', () => {
  test('are merged name by name, or asked about', () => {
    let merged = 0;
    fc.assert(
      fc.property(versions, ({ imports: read, texts }) => {
        for (const [ours, theirs] of [['ours', 'theirs'] as const, ['theirs', 'ours'] as const]) {
          const said = { base: texts.base, ours: texts[ours], theirs: texts[theirs] };
          const { text, conflicts } = mergeText(said, { path: 'a.js' });
          const rules = appliedRules(mapVersions(said, splitLines), 'javascript');
          // Lines alone may keep what one side moved and the other one took out.
          if (conflicts > 0 || !rules.includes('imports')) continue;
          merged++;
          const [before, mine, other] = [read.base, read[ours], read[theirs]].map(flat);
          const result = flat(readText(text));
          for (const key of new Set([...keysOf(before), ...keysOf(mine), ...keysOf(other)])) {
            const [was, own, its] = [before, mine, other].map((some) => some?.get(key));
            const wanted = own === was ? its : its === was || its === own ? own : 'a conflict';
            expect([key, result.get(key)]).toEqual([key, wanted]);
          }
          expect(result.size).toBeLessThanOrEqual(keysOf(mine).length + keysOf(other).length);
        }
      }),
      RUNS,
    );
    expect(merged).toBeGreaterThan(RUNS.numRuns / 20);
  });
});

function apply(some: Imports, { kind, module, name, other }: Edit): Imports {
  const result = new Map([...some].map(([each, list]) => [each, new Map(list)]));
  const list = result.get(module);
  if (kind === 'bring' && list === undefined) result.set(module, new Map([[name, name]]));
  else if (kind === 'reverse') return new Map([...result].reverse());
  else if (list === undefined) return result;
  else if (kind === 'add') list.set(name, name);
  else if (kind === 'remove' && list.size > 1) list.delete(name);
  else if (kind === 'rename' && list.has(name)) list.set(name, `${other}As`);
  else if (kind === 'move')
    return new Map(
      [...result].map(([each, names]) => [each === module ? `${each}/x` : each, names]),
    );
  else if (kind === 'drop') result.delete(module);
  return result;
}

/** Returns imports of which each name comes once. */
function distinct(some: Imports): Imports {
  const known = new Set<string>();
  const kept = [...some].map(([module, names]) => {
    const own = [...names].filter(([name]) => !known.has(name) && known.add(name));
    return [module, new Map(own)] as const;
  });
  return new Map(kept.filter(([, { size }]) => size > 0));
}

function textOf(
  some: Imports,
  {
    isWide,
    end,
    isRequire,
  }: { readonly isWide: boolean; readonly end: string; readonly isRequire: boolean },
): string {
  const lines = [...some].map(([module, names]) => {
    const said = [...names].map(([name, from]) =>
      from === name ? name : isRequire ? `${from}: ${name}` : `${from} as ${name}`,
    );
    const list = isWide ? `{\n  ${said.join(',\n  ')}\n}` : `{ ${said.join(', ')} }`;
    return isRequire
      ? `const ${list} = require('${module}')${end}`
      : `import ${list} from '${module}'${end}`;
  });
  return `// Begin\n\n${lines.map((line) => `${line}\n`).join('')}\nstart()\n`;
}

function readText(text: string): Imports {
  const syntax = parseSyntax(text, 'javascript', { tokens: false });
  const found = new Map<string, Map<string, string>>();
  for (const statement of nodesIn(syntax?.root['body'])) {
    const [declared] = nodesIn(statement['declarations']);
    const { source, specifiers } = statement;
    const init = declared?.['init'];
    const from = isNode(source) ? source : isNode(init) ? nodesIn(init['arguments'])[0] : undefined;
    const id = declared?.['id'];
    const list = isNode(id) ? nodesIn(id['properties']) : nodesIn(specifiers);
    const names = list.map((one): [string, string] => {
      const [local, imported] = [one['local'] ?? one['value'], one['imported'] ?? one['key']];
      return [nameOf(local), nameOf(imported)];
    });
    if (from !== undefined) found.set(String(from['value']), new Map(names));
  }
  return found;
}

function nameOf(node: unknown): string {
  return isNode(node) ? String(node['name']) : '';
}

/** Returns where each name comes from. */
function flat(some: Imports): ReadonlyMap<string, string> {
  return new Map(
    [...some].flatMap(([module, names]) =>
      [...names].map(([name, from]): [string, string] => [`${module} ${name}`, from]),
    ),
  );
}

function keysOf(some: ReadonlyMap<string, string> | undefined): readonly string[] {
  return [...(some?.keys() ?? [])];
}
