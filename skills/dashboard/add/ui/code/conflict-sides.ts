import { codeLine, wordsOf } from '../page.ts';
import { html, type VNode } from '../vendor.ts';

const t = wordsOf('code');

/** What both sides of a conflict started from, and what each wants, beside each other. Lines that are not in the other are marked. */
export function Sides({
  layers,
  base,
  ours,
  theirs,
  keeps = { ours: null, theirs: null },
}: {
  readonly layers: readonly string[];
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
  readonly keeps?: { readonly ours: string | null; readonly theirs: string | null };
}): VNode {
  const gone = { [ours]: linesOf(ours), [theirs]: linesOf(theirs) };
  const isKept = (line: string) => Object.values(gone).every((lines) => lines.includes(line));
  return html`<div class="sides">
    <${Side} title=${t('base')} note=${null} text=${base} marked=${(line: string) => (isKept(line) ? '' : 'removed')} />
    <${Side} title=${nameOf(layers[0])} note=${keeps.ours} text=${ours} marked=${isNew(base)} />
    <${Side} title=${nameOf(layers[1])} note=${keeps.theirs} text=${theirs} marked=${isNew(base)} />
  </div>`;
}

function Side({
  title,
  note,
  text,
  marked,
}: {
  readonly title: string;
  readonly note: string | null;
  readonly text: string;
  readonly marked: (line: string) => string;
}): VNode {
  return html`<figure><figcaption>${title}${note === null ? null : html` <span class="hint">${note}</span>`}</figcaption>
    ${
      text === ''
        ? html`<p class="hint">${t('no-lines')}</p>`
        : html`<pre class="lines" tabindex="0">${linesOf(text).map((line) => html`<span class=${marked(line)}>${codeLine(line)}\n</span>`)}</pre>`
    }</figure>`;
}

function isNew(base: string): (line: string) => string {
  const known = linesOf(base);
  return (line) => (known.includes(line) ? '' : 'added');
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Returns a layer's name; those that are no skills have words of their own. */
export function nameOf(layer = ''): string {
  if (layer === 'core') return t('core');
  if (layer === 'your edits') return t('your-edits');
  return layer === 'undo' ? t('before') : layer;
}

/** Returns who decided a conflict. */
export function authorOf(origin: string): string {
  return origin === 'owner' ? t('you') : origin;
}
