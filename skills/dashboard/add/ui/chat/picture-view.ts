import { wordsOf } from '../page.ts';
import { html, useLayoutEffect, useRef, useState, type VNode } from '../vendor.ts';

const t = wordsOf('chat');

export type Picture = { readonly address: string; readonly words: string };

type Facts = {
  readonly pictures: readonly Picture[];
  readonly first: number;
  readonly onClose: () => void;
};

/** The pictures of a message over the whole page, one at a time: arrow keys turn to the next one, Escape closes. */
export function PictureView({ pictures, first, onClose }: Facts): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const [at, setAt] = useState(first);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  const count = pictures.length;
  const turn = (by: number) => setAt((at + by + count) % count);
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key === 'ArrowLeft') turn(-1);
    else if (key === 'ArrowRight') turn(1);
  };
  const { address, words } = pictures[at] ?? { address: '', words: '' };
  const place = t('picture-of', { at: at + 1, count });
  const onBackdrop = (event: Event) => event.target === dialog.current && dialog.current?.close();
  return html`<dialog class="pictures" ref=${dialog} aria-label=${t('pictures', { count })} onClose=${onClose} onKeyDown=${onKeyDown} onClick=${onBackdrop}>
    <header class="row"><p class="pictures-words" aria-live="polite">${count === 1 ? words : `${place}: ${words}`}</p>
      <a class="push" href=${address} target="_blank" rel="noopener noreferrer">${t('open-alone')}</a>
      <button type="button" aria-label=${t('close')} onClick=${() => dialog.current?.close()}>✕</button></header>
    <img class="pictures-shown" src=${address} alt=${words} />
    ${
      count === 1
        ? null
        : html`<div class="row turning"><button type="button" aria-label=${t('previous')} onClick=${() => turn(-1)}>‹</button>
      <button type="button" aria-label=${t('next')} onClick=${() => turn(1)}>›</button></div>`
    }
  </dialog>`;
}
