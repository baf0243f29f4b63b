import { type Notation, renderMarkdown } from './markdown.ts';

/** Markdown as it is read aloud: no marks, no addresses, no code. */
const ALOUD: Notation = {
  escape: (text) => text,
  bold: (inner) => inner,
  italic: (inner) => inner,
  struck: () => '',
  code: (text) => text,
  codeBlock: () => '',
  quote: (inner) => inner,
  link: (_, label) => label,
  heading: (inner) => `${inner}.`,
  bullet: '',
};

/** Makes the text that is read aloud of an answer, up to a length; what does not fit is cut after a sentence. */
export function speakable(markdown: string, longest: number): string {
  const said = renderMarkdown(markdown, ALOUD)
    .replace(/https?:\/\/\S+/g, '')
    .replace(/\p{Extended_Pictographic}|\u{FE0F}|\u{200D}/gu, '')
    .replace(/[ \t]+/g, ' ')
    // From the beginning of blanks alone: from each of them, many would take their square.
    .replace(/(?<!\s)\s*\n\s*/g, '\n')
    .trim();
  if (!/[\p{L}\p{N}]/u.test(said)) return '';
  if (said.length <= longest) return said;
  const head = said.slice(0, longest);
  const sentences = /^[\s\S]*[.!?…。！？\n](?=\s|$)/u.exec(head)?.[0];
  return (sentences ?? head.replace(/(?<!\S)\S*$/, '')).trim();
}
