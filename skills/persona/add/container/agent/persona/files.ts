import { readHead } from '../files/read-head.ts';

/** Files of a persona, in the order in which they stand in the prompt. */
export const PERSONA_FILES = [
  'SOUL',
  'IDENTITY',
  'USER',
  'AGENTS',
  'ENVIRONMENT',
  'TOOLS',
] as const;
/** Those for a loop of its own, which works on a part of the task. */
export const FOR_LOOPS: readonly PersonaFile[] = ['AGENTS', 'ENVIRONMENT'];
/** The most of one file that is shown; the text says where to read on. */
const MAX_BYTES = 20_480;

export type PersonaFile = (typeof PERSONA_FILES)[number];

/** One file of a persona, with text in it. */
export type PersonaText = { readonly path: string; readonly text: string };

/** Reads one file of a persona: the group's own, else that of all groups; null where neither says anything. */
export async function readPersonaFile(
  name: PersonaFile,
  { group, global }: { readonly group: string; readonly global: string },
): Promise<PersonaText | null> {
  for (const folder of [group, global]) {
    const path = `${folder}/${name}.md`;
    const text = await readHead(path, MAX_BYTES);
    if (text !== null && hasWords(text)) return { path, text };
  }
  return null;
}

/** Tells whether a text has more than headings, comments and fields to fill in. */
function hasWords(text: string): boolean {
  const lines = text.replace(/<!--[\s\S]*?-->/g, '').split('\n');
  return lines.some((line) => {
    const trimmed = line.trim();
    const plain = trimmed.replaceAll('**', '').replace(/^[-*]/, '').trim();
    return !trimmed.startsWith('#') && plain !== '' && !/^[\p{L} ,()]*:$/u.test(plain);
  });
}
