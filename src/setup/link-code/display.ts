import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renderSVG } from 'uqr';
import { terminalCode } from '../../terminal/terminal-code.ts';
import { openCodePage } from './code-page.ts';

/** Shows QR codes to the owner, each in place of the one before. */
export interface Display {
  show(qr: string): void;
  /** Removes the picture and the page; an open page shows the ending first. */
  close(ending: string): Promise<void>;
}

export type DisplayOptions = {
  /** The far end as people write it: `WhatsApp`. */
  readonly title: string;
  /** The steps on the phone, as a sentence, up to the one that scans the code. */
  readonly how: string;
  readonly isInteractive: boolean;
  readonly say: (text: string) => void;
  /** Path of the picture of the code; null writes one only where no person is at a terminal. */
  readonly qrFile: string | null;
  /** Folder of that picture, where the owner names no path. */
  readonly folder: string;
  /** Says each code itself as well, as `qr …` on a line: for the assistant, whose terminal draws it. */
  readonly isRelayed: boolean;
};

/**
 * Shows codes in an interactive terminal; else as a picture, and on a page that only this machine
 * can open (`ssh -L` brings it to another).
 */
export async function openDisplay(options: DisplayOptions): Promise<Display> {
  const { isInteractive, say, title, how } = options;
  const path = options.qrFile ?? (isInteractive ? null : join(options.folder, 'pairing.svg'));
  const page = isInteractive ? null : await openCodePage({ title, how });
  const places = [path, page?.url].filter((place) => typeof place === 'string');
  let isAnnounced = places.length === 0;
  if (!isAnnounced) say(`Asking ${title} for a code.`);
  return {
    show(qr) {
      const svg = renderSVG(qr, { border: 4 });
      if (path !== null) writePicture(path, svg);
      page?.show(svg);
      // Offline none ever comes, and the address would lead to an empty page.
      if (!isAnnounced) say(`${how}\nIt is at ${places.join(' and at ')}`);
      isAnnounced = true;
      if (options.isRelayed) say(`qr ${qr}`);
      if (isInteractive) say(`${how}\n\n${terminalCode(qr)}`);
    },
    async close(ending) {
      // An expired code is neither secret nor useful.
      if (path !== null) rmSync(path, { force: true });
      await page?.close(ending);
    },
  };
}

function writePicture(path: string, svg: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.new-${process.pid}`;
  writeFileSync(temporary, svg, { mode: 0o600 });
  renameSync(temporary, path);
}
