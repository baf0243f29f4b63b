import { appendFile, lstat, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Adds text at the end of a file, on a line of its own. It never rewrites: the owner may be editing the same file.
 *
 * @throws Error where the file is something else than a file
 */
export async function appendLines(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const found = await lstat(path).catch(() => null);
  if (found !== null && !found.isFile()) throw new Error(`${path} is not a file. Look what it is.`);
  const begin =
    found === null || found.size === 0 || (await endsInLine(path, found.size)) ? '' : '\n';
  await appendFile(path, `${begin}${text}\n`);
}

async function endsInLine(path: string, size: number): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer.toString() === '\n';
  } finally {
    await file.close();
  }
}
