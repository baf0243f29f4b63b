import {
  addSkill,
  type Codebase,
  commitAll,
  temporaryCodebase,
} from '../../src/testing/claw/codebase.ts';

/** The size of a codebase: files of the core, and skills that change it. */
export type Size = { readonly files: number; readonly skills: number };

const CHANGED_BY_ONE = 5;
const SHARED = 250;

/**
 * A codebase as a git repository tagged v1.0.0, with skills that change five files each, among the same 250,
 * each in a place of its own. The same size is always the same bytes.
 */
export function largeCodebase(size: Size): Codebase {
  const core = coreFiles(size.files);
  const codebase = temporaryCodebase({}, { git: true });
  codebase.git('tag', '--delete', 'v1.0.0');
  codebase.write({ ...core, '.env.example': 'PORT=8080\n', 'README.md': '# Large\n' });
  for (let index = 0; index < size.skills; index += 1) addOne(codebase, core, index);
  commitAll(codebase, 'the core');
  codebase.git('tag', 'v1.0.0');
  return codebase;
}

/** Returns the skills' names, in the order of their making. */
export function skillNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `skill-${String(index).padStart(3, '0')}`);
}

function addOne(codebase: Codebase, core: Readonly<Record<string, string>>, index: number): void {
  const name = skillNames(index + 1).at(-1) ?? '';
  const modify: Record<string, readonly [string, string]> = {};
  for (let at = 0; at < CHANGED_BY_ONE; at += 1) {
    const change = index * CHANGED_BY_ONE + at;
    const path = pathOf((change % SHARED) * 2);
    const base = core[path] ?? '';
    modify[path] = [base, changed(base, Math.floor(change / SHARED), name)];
  }
  const structured = index % 4 === 0 ? { structured: { env_additions: [`KEY_${index}`] } } : {};
  addSkill(codebase, name, { modify, manifest: structured });
}

function coreFiles(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [pathOf(n), source(n)]));
}

function pathOf(n: number): string {
  return `src/area${n % 12}/module${n % 7}/file${n}.ts`;
}

/** 4 to 6 KB that read like a module: at least eight functions, none like another. */
function source(seed: number): string {
  const functions = 8 + (seed % 4);
  const parts = [`import { use } from './use${seed}.ts';\n`];
  for (let at = 0; at < functions; at += 1) {
    const name = `step${at}Of${seed}`;
    parts.push(
      `/** Takes step ${at} of ${functions} on the way that number ${seed} goes. */`,
      `export function ${name}(input: readonly string[], limit = ${seed + at}): string {`,
      `  const seen = new Map<string, number>();`,
      `  for (const word of input) {`,
      `    const count = seen.get(word) ?? 0;`,
      `    if (count > limit) throw new RangeError('${name} saw too many');`,
      `    seen.set(word, count + ${(seed * 7 + at * 13) % 31});`,
      `  }`,
      `  const found = [...seen].filter(([, count]) => count % ${at + 2} === 0);`,
      `  return use(found.map(([word]) => word).join('${at}'));`,
      `}\n`,
    );
  }
  return `${parts.join('\n')}\n`;
}

/** Returns the text with one line more, at the head or before the end of one of its functions. */
function changed(text: string, place: number, skill: string): string {
  let seen = -1;
  return text.replace(/^ {2}(?:const seen = |\}$).*\n/gm, (line) => {
    seen += 1;
    return seen === place ? `${line}  seen.set('${skill}', ${place});\n` : line;
  });
}
