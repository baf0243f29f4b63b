import { ask, post } from '../page.ts';

/** The most that one request brings. */
const PART_BYTES = 262_144;

/**
 * Sends files to a chat, each as a message of its own; the text goes with the first.
 *
 * @param onShare tells how much of all of them is sent, from 0 to 1
 */
export async function sendFiles(
  {
    jid,
    text,
    files,
  }: { readonly jid: string; readonly text: string; readonly files: readonly File[] },
  onShare: (share: number) => void,
): Promise<void> {
  const whole = files.reduce((sum, { size }) => sum + size, 0);
  let sent = 0;
  for (const [number, file] of files.entries()) {
    const id = newId();
    for (let at = 0; at < file.size; at += PART_BYTES) {
      const body = file.slice(at, at + PART_BYTES);
      await ask(`upload?id=${id}&at=${at}`, { method: 'POST', body });
      sent += body.size;
      onShare(sent / whole);
    }
    const said = number === 0 ? text : '';
    await post('chat/say', { jid, text: said, file: { id, name: file.name.slice(-200) } });
  }
}

/** `crypto.randomUUID` is only there where the way to the page is safe. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 15) | 64;
  bytes[8] = ((bytes[8] ?? 0) & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
