import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { renderSVG } from 'uqr';
import { terminalCode } from '../../supervisor/console/terminal-code.ts';
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
  /** Lines of the terminal; left out where they are not known, and taken for enough. */
  readonly rows?: number | undefined;
  readonly say: (text: string) => void;
  /** Path of the picture of the code; null writes one only where no person is at a terminal. */
  readonly qrFile: string | null;
  /** Folder of that picture, where the owner names no path. */
  readonly folder: string;
  /** Says each code itself as well, as `qr …` on a line: for the assistant, whose terminal draws it. */
  readonly isRelayed: boolean;
};

/** Lines that a terminal needs for the largest code of a messenger with the words around it. */
const ENOUGH_LINES = 40;
/** The steps on the phone, which are broken on a narrow terminal, and an empty line. */
const LINES_AROUND = 3;

/**
 * Shows codes in an interactive terminal; otherwise as a picture, and on a page that only this machine can open (`ssh
 * -L` brings it to another). The page is also available if a terminal has too few lines for a code.
 */
export async function openDisplay(options: DisplayOptions): Promise<Display> {
  const { isInteractive, say, title, how, rows = ENOUGH_LINES } = options;
  const path = options.qrFile ?? (isInteractive ? null : join(options.folder, 'pairing.svg'));
  const page = isInteractive && rows >= ENOUGH_LINES ? null : await openCodePage({ title, how });
  const places = [path, isInteractive ? null : page?.url].filter(
    (place) => typeof place === 'string',
  );
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
      if (isInteractive) say(drawn(qr, { how, rows, elsewhere: page?.url ?? null }));
    },
    async close(ending) {
      // An expired code is neither secret nor useful.
      if (path !== null) rmSync(path, { force: true });
      await page?.close(ending);
    },
  };
}

type Around = {
  readonly how: string;
  readonly rows: number;
  readonly elsewhere: string | null;
};

/** Draws a code below the steps; one that does not fit has them below it, with what to do. */
function drawn(qr: string, { how, rows, elsewhere }: Around): string {
  const code = terminalCode(qr);
  const lines = code.split('\n').length + LINES_AROUND;
  if (lines <= rows || elsewhere === null) return `${how}\n\n${code}`;
  return `${code}\n${how}\nThe code does not fit: it takes ${lines} lines, and this window has ${rows}. Enlarge it, or open ${elsewhere} on this machine.`;
}

function writePicture(path: string, svg: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.new-${process.pid}`;
  writeFileSync(temporary, svg, { mode: 0o600 });
  renameSync(temporary, path);
}
