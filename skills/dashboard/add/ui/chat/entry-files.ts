import type { Entry } from '../command.ts';
import { whenLooked } from '../lazy-view.ts';
import { wordsOf } from '../page.ts';
import { html, useState, type VNode } from '../vendor.ts';

const t = wordsOf('chat');

const PictureView = whenLooked(async () => (await import('./picture-view.ts')).PictureView);

type EntryFile = Entry['files'][number] & {
  readonly address: string;
  readonly words: string;
  /** The assistant has it itself; others are fetched from a messenger when somebody asks. */
  readonly isHere: boolean;
};

/** The files of something that was said: pictures side by side, and below them links that download the others. */
export function EntryFiles({
  jid,
  parts,
}: {
  readonly jid: string;
  readonly parts: readonly Entry[];
}): VNode {
  const files = parts.flatMap((part) => filesOf(jid, part));
  const pictures = files.filter(isPicture);
  const others = files.filter((file) => !isPicture(file));
  return html`${pictures.length === 0 ? null : html`<${Gallery} pictures=${pictures} />`}
    ${
      others.length === 0
        ? null
        : html`<ul class="files">${others.map(
            ({ address, words, sizeBytes }) =>
              html`<li key=${address}><a href=${address} download target="_blank" rel="noopener noreferrer">${words}${sizeOf(sizeBytes)}</a></li>`,
          )}</ul>`
    }`;
}

function Gallery({ pictures }: { readonly pictures: readonly EntryFile[] }): VNode {
  const [isAsked, setAsked] = useState(false);
  const [opened, setOpened] = useState<number | null>(null);
  const [gone, setGone] = useState<readonly string[]>([]);
  const shown = pictures.filter(
    ({ address, isHere }) => (isHere || isAsked) && !gone.includes(address),
  );
  const hidden = isAsked ? [] : pictures.filter(({ isHere }) => !isHere);
  const [only] = hidden;
  const count = hidden.length;
  const button =
    count > 1
      ? t('show-pictures', { count })
      : `${t('show-picture')}: ${only?.words}${sizeOf(only?.sizeBytes ?? null)}`;
  const lost = pictures.filter(({ address }) => gone.includes(address));
  return html`${
    shown.length === 0
      ? null
      : html`<ul class=${shown.length === 1 ? 'files gallery single' : 'files gallery'} aria-label=${t('pictures', { count: shown.length })}>${shown.map(
          (
            { address, words },
            at,
          ) => html`<li key=${address}><button type="button" aria-haspopup="dialog" onClick=${() => setOpened(at)}>
      <img src=${address} alt=${words} loading="lazy" onError=${() => setGone((before) => [...before, address])} /></button></li>`,
        )}</ul>`
  }
    ${count === 0 ? null : html`<p class="files"><button type="button" onClick=${() => setAsked(true)}>${button}</button></p>`}
    ${lost.map(({ address, words }) => html`<p class="hint" key=${address}>${t('file-gone', { name: words })}</p>`)}
    ${opened === null ? null : html`<${PictureView} pictures=${shown} first=${opened} onClose=${() => setOpened(null)} />`}`;
}

function filesOf(jid: string, { kind: said, seq, text, files }: Entry): readonly EntryFile[] {
  const isHere = said === 'answer' || text.includes(', id press:');
  return files.map((file, number) => {
    const query = new URLSearchParams({
      jid,
      kind: said,
      seq: String(seq),
      number: String(number),
    });
    const words = file.name ?? t(`file-${file.kind ?? 'document'}`);
    return { ...file, words, isHere, address: `/dashboard/file?${query}` };
  });
}

function isPicture({ kind, name }: EntryFile): boolean {
  return kind === 'image' || /\.(png|jpe?g|gif|webp)$/i.test(name ?? '');
}

function sizeOf(bytes: number | null): string {
  if (bytes === null) return '';
  return bytes < 1e6 ? ` (${Math.ceil(bytes / 1e3)} kB)` : ` (${(bytes / 1e6).toFixed(1)} MB)`;
}
