import type { Entry } from '../command.ts';
import { whenLooked } from '../lazy-view.ts';
import { epoch } from '../live.ts';
import { wordsOf } from '../page.ts';
import { html, useEffect, useState, type VNode } from '../vendor.ts';

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
    <${Downloads} files=${others} />`;
}

function Downloads({ files }: { readonly files: readonly EntryFile[] }): VNode | null {
  if (files.length === 0) return null;
  return html`<ul class="files">${files.map(
    ({ address, words, sizeBytes }) =>
      html`<li key=${address}><a href=${address} download target="_blank" rel="noopener noreferrer">${words}${sizeOf(sizeBytes)}</a></li>`,
  )}</ul>`;
}

/** Why a picture is not shown: only an answer that says so means that it is gone. */
type Loss = 'gone' | 'away' | 'no-picture';

type Fate = {
  readonly loss: Loss | null;
  /** How often it was asked for again. */
  readonly tries: number;
  /** It came, and the browser had not shown it: once more, and it is no picture. */
  readonly wasHere: boolean;
};

function Gallery({ pictures }: { readonly pictures: readonly EntryFile[] }): VNode {
  const [isAsked, setAsked] = useState(false);
  const [opened, setOpened] = useState<number | null>(null);
  const [fates, setFates] = useState<Readonly<Record<string, Fate>>>({});
  const asked = pictures.filter(({ isHere }) => isHere || isAsked);
  const lostBy = (loss: Loss | null) =>
    asked.filter(({ address }) => (fates[address]?.loss ?? null) === loss);
  const [shown, gone, away, odd] = [
    lostBy(null),
    lostBy('gone'),
    lostBy('away'),
    lostBy('no-picture'),
  ];
  const hidden = isAsked ? [] : pictures.filter(({ isHere }) => !isHere);
  const [only] = hidden;
  const count = hidden.length;
  const button =
    count > 1
      ? t('show-pictures', { count })
      : `${t('show-picture')}: ${only?.words}${sizeOf(only?.sizeBytes ?? null)}`;
  const again = () =>
    setFates((before) => ({
      ...before,
      ...Object.fromEntries(
        Object.entries(before)
          .filter(([, { loss }]) => loss === 'away')
          .map(([address, fate]) => [address, { ...fate, loss: null, tries: fate.tries + 1 }]),
      ),
    }));
  // The connection is back.
  useEffect(again, [epoch.value]);
  const onError = async (address: string) => {
    const found = await lookFor(address);
    setFates((before) => {
      const { tries = 0, wasHere = false } = before[address] ?? {};
      const isHere = found === 'here';
      const loss = isHere ? (wasHere ? 'no-picture' : null) : found;
      return { ...before, [address]: { loss, tries: tries + 1, wasHere: isHere } };
    });
  };
  return html`${
    shown.length === 0
      ? null
      : html`<ul class=${shown.length === 1 ? 'files gallery single' : 'files gallery'} aria-label=${t('pictures', { count: shown.length })}>${shown.map(
          (
            { address, words },
            at,
          ) => html`<li key=${`${address} ${fates[address]?.tries ?? 0}`}><button type="button" aria-haspopup="dialog" onClick=${() => setOpened(at)}>
      <img src=${address} alt=${words} loading="lazy" onError=${() => onError(address)} /></button></li>`,
        )}</ul>`
  }
    ${count === 0 ? null : html`<p class="files"><button type="button" onClick=${() => setAsked(true)}>${button}</button></p>`}
    ${gone.map(({ address, words }) => html`<p class="hint" key=${address}>${t('file-gone', { name: words })}</p>`)}
    ${away.map(({ address, words }) => html`<p class="problem" key=${address}>${t('file-away', { name: words })}</p>`)}
    ${away.length === 0 ? null : html`<p class="files"><button type="button" onClick=${again}>${t('load-again')}</button></p>`}
    <${Downloads} files=${odd} />
    ${opened === null ? null : html`<${PictureView} pictures=${shown} first=${opened} onClose=${() => setOpened(null)} />`}`;
}

/** Asks for a picture that the browser does not show, since its own error tells no reason. */
async function lookFor(address: string): Promise<'here' | 'gone' | 'away'> {
  const enough = new AbortController();
  const answer = await fetch(address, { signal: enough.signal }).catch(() => null);
  enough.abort(); // Of its content nothing is read.
  if (answer?.status === 404) return 'gone';
  return answer?.ok === true ? 'here' : 'away';
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
