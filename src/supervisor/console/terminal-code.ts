import { encode } from 'uqr';

const BLACK_ON_WHITE = '\x1b[30;107m';
const PLAIN = '\x1b[0m';

/** Returns a QR code of half lines, dark on light whatever the terminal's colours are. */
export function terminalCode(text: string): string {
  const { data } = encode(text, { border: 2 });
  const lines: string[] = [];
  for (let row = 0; row < data.length; row += 2) {
    const upper = data[row] ?? [];
    const lower = data[row + 1] ?? [];
    const cells = upper.map((isDark, column) => cell(isDark, lower[column] === true));
    lines.push(`${BLACK_ON_WHITE}${cells.join('')}${PLAIN}`);
  }
  return lines.join('\n');
}

function cell(isUpper: boolean, isLower: boolean): string {
  if (isUpper) return isLower ? '█' : '▀';
  return isLower ? '▄' : ' ';
}
