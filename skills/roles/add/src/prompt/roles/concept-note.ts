import { cutText } from '../../lib/cut-text.ts';
import type { PickedConcept } from './concept-graph.ts';

/** As a model counts them, of most languages. */
const BYTES_PER_TOKEN = 3;
/** No concept takes more of the room than this share of what is left. */
const SHARE = 0.6;
/** Less than this of a text tells nothing. */
const LEAST_BYTES = 160;
const MAX_LINE_BYTES = 240;

/** The concepts of a turn as its agent sees them, and what had no room. */
export type ConceptNote = {
  /** Null where no concept was picked. */
  readonly text: string | null;
  readonly shown: readonly PickedConcept[];
  readonly leftOut: readonly PickedConcept[];
};

/**
 * Writes what a role knows about a message into so many tokens: concepts that the message names with their text, then
 * those linked with them in a line each. What has no room is named with its file, which the agent can read.
 *
 * @param folder the role's folder as the agent sees it
 */
export function conceptNote(
  picked: readonly PickedConcept[],
  {
    role,
    folder,
    tokens,
  }: { readonly role: string; readonly folder: string; readonly tokens: number },
): ConceptNote {
  if (picked.length === 0) return { text: null, shown: [], leftOut: [] };
  const head = `# What your role ${role} knows about this\n\nEach is a file of ${folder}; read there for more.`;
  let left = tokens * BYTES_PER_TOKEN - Buffer.byteLength(head);
  const parts: string[] = [];
  const shown: PickedConcept[] = [];
  for (const one of picked) {
    const part = partOf(one, left);
    const size = part === null ? 0 : Buffer.byteLength(part) + 2;
    if (part === null || size > left) continue;
    left -= size;
    parts.push(part);
    shown.push(one);
  }
  const leftOut = picked.filter((one) => !shown.includes(one));
  if (parts.length === 0) return { text: null, shown, leftOut };
  const more = `Also there: ${leftOut.map(({ concept }) => `${concept.file}.md`).join(', ')}.`;
  const end = leftOut.length > 0 && Buffer.byteLength(more) + 2 <= left ? [more] : [];
  return { text: [head, ...parts, ...end].join('\n\n'), shown, leftOut };
}

function partOf({ concept, reason }: PickedConcept, leftBytes: number): string | null {
  const { name, file, text } = concept;
  if (reason.kind === 'linked') {
    const line = cutText(firstSentence(text), MAX_LINE_BYTES);
    const said = line.text === '' ? '' : `: ${line.text}${line.isTruncated ? '…' : ''}`;
    return `- ${name} (${file}.md)${said}`;
  }
  const title = `## ${name} (${file}.md)`;
  const room = Math.floor((leftBytes - Buffer.byteLength(title) - 3) * SHARE);
  if (Buffer.byteLength(text) > room && room < LEAST_BYTES) return null;
  const { text: beginning, isTruncated } = cutText(text, room);
  if (text === '') return title;
  if (!isTruncated) return `${title}\n\n${text}`;
  const paragraph = beginning.lastIndexOf('\n\n');
  const whole = paragraph > beginning.length / 2 ? beginning.slice(0, paragraph) : beginning;
  return `${title}\n\n${whole.trim()} …`;
}

function firstSentence(text: string): string {
  const line = text.split('\n').find((one) => /[\p{L}\p{N}]/u.test(one)) ?? '';
  const plain = line.replace(/^[#>*\s-]+/, '').trim();
  return /^.*?[.!?。](?=\s|$)/u.exec(plain)?.[0] ?? plain;
}

/** Tells the owner which concepts a message brought in, and why. */
export function reasonsOf({ shown, leftOut }: ConceptNote): readonly string[] {
  const line = ({ concept, reason }: PickedConcept, end: string): string =>
    reason.kind === 'named'
      ? `- ${concept.name}: the message says ${reason.words.map((word) => `“${word}”`).join(', ')}${end}`
      : `- ${concept.name}: linked with ${reason.with.join(', ')}${end}`;
  return [
    ...shown.map((one) => line(one, '')),
    ...leftOut.map((one) => line(one, '; no room left, its name alone is shown')),
  ];
}
