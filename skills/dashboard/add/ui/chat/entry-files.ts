import { wordsOf } from '../page.ts';
import { html, useState, type VNode } from '../vendor.ts';

const t = wordsOf('chat');

export type EntryFile = {
  readonly name: string | null;
  readonly kind: string | null;
  readonly sizeBytes: number | null;
};

type Facts = {
  readonly jid: string;
  readonly kind: 'message' | 'answer';
  readonly seq: number;
  readonly files: readonly EntryFile[];
  /** The assistant has them itself; others are fetched from a messenger when somebody asks. */
  readonly isHere: boolean;
};

/** The files of something that was said: pictures, and links that download the others. */
export function EntryFiles({ jid, kind, seq, files, isHere }: Facts): VNode {
  return html`<ul class="files">${files.map((file, number) => {
    const query = new URLSearchParams({ jid, kind, seq: String(seq), number: String(number) });
    return html`<${OneFile} key=${number} file=${file} address=${`/dashboard/file?${query}`} isHere=${isHere} />`;
  })}</ul>`;
}

function OneFile({
  file: { name, kind, sizeBytes },
  address,
  isHere,
}: {
  readonly file: EntryFile;
  readonly address: string;
  readonly isHere: boolean;
}): VNode {
  const isPicture = kind === 'image' || /\.(png|jpe?g|gif|webp)$/i.test(name ?? '');
  const [isShown, setShown] = useState(isPicture && isHere);
  const [isGone, setGone] = useState(false);
  const words = name ?? t(`file-${kind ?? 'document'}`);
  const size = sizeBytes === null ? '' : ` (${sizeOf(sizeBytes)})`;
  if (isGone) return html`<li class="hint">${t('file-gone', { name: words })}</li>`;
  if (isShown) {
    return html`<li><a href=${address} target="_blank" rel="noopener noreferrer">
      <img src=${address} alt=${words} loading="lazy" onError=${() => setGone(true)} /></a></li>`;
  }
  return html`<li>${
    isPicture
      ? html`<button type="button" onClick=${() => setShown(true)}>${t('show-picture')}: ${words}${size}</button>`
      : html`<a href=${address} download target="_blank" rel="noopener noreferrer">${words}${size}</a>`
  }</li>`;
}

export function sizeOf(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
