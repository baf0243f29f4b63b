import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';

const VIEW = pathToFileURL(join(import.meta.dirname, 'view.ts')).href;

/** Shows an answer that grows by a few characters, and then what it became. */
const PROGRAM = `
import { collectingView } from ${JSON.stringify(VIEW)};
const view = collectingView({ isQuiet: false });
const answer = 'One **bold** word.\\n\\n- first\\n- second\\n\\nThe end.';
for (let from = 0; from < answer.length; from += 5) {
  view.onGrowing({ id: 'd', from, text: answer.slice(from, from + 5) });
}
view.onAnswer(answer, 'd');
view.onGrowing({ id: 'e', from: 0, text: 'Half an ans' });
view.onAnswer('It failed.', 'e');
view.end();
`;

async function output(isTerminal: boolean): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'claw-view-'));
  const path = join(folder, 'program.ts');
  writeFileSync(path, PROGRAM);
  const line = `stty cols 40 rows 20; exec ${process.execPath} ${path}`;
  const [command, args] = isTerminal
    ? (['script', ['-qefc', line, '/dev/null']] as const)
    : ([process.execPath, [path]] as const);
  const child = spawn(command, args, { env: { PATH: process.env['PATH'], TERM: 'xterm' } });
  let raw = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    raw += text;
  });
  await once(child, 'close');
  rmSync(folder, { recursive: true });
  return raw;
}

/** Returns what stays on the screen: the rows above which the cursor went up are drawn again. */
function leftOn(raw: string): string {
  const rows: string[] = [];
  for (const piece of raw.replaceAll('\r', '').split(/(\u001b\[\d+A\u001b\[J)/)) {
    const [, up] = /^\u001b\[(\d+)A/.exec(piece) ?? [];
    if (up !== undefined) rows.splice(rows.length - Number(up));
    else rows.push(...stripVTControlCharacters(piece).split('\n').slice(0, -1));
  }
  return rows.join('\n');
}

const ANSWER = 'One bold word.\n\n• first\n• second\n\nThe end.\nIt failed.';

test('an answer grows on a terminal and is there once at its end; a pipe gets it whole', async () => {
  const raw = await output(true);
  expect(raw).toContain('Half an ans');
  expect(leftOn(raw)).toBe(ANSWER);
  const piped = await output(false);
  expect(piped).toBe('One **bold** word.\n\n- first\n- second\n\nThe end.\nIt failed.\n');
});
