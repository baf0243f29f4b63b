import { readFile, stat } from 'node:fs/promises';

const MAX_TEXT_BYTES = 67_108_864;

/**
 * Refuses pipes, sockets and devices, on which a read or write would wait forever. Missing files and folders are left
 * to the code that opens them.
 */
export async function checkPlainFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null || found.isFile() || found.isDirectory()) return;
  throw new Error(`${path} is not a file but a pipe, a socket or a device.`);
}

/**
 * Reads a whole text file. Refuses anything that is not a file, and files that would fill the agent's memory.
 *
 * @param encoding `latin1` gives each byte as a character, also those of no text
 */
export async function readText(
  path: string,
  encoding: 'utf8' | 'latin1' = 'utf8',
): Promise<string> {
  await checkPlainFile(path);
  const { size } = await stat(path);
  if (size <= MAX_TEXT_BYTES) return await readFile(path, encoding);
  const megabytes = Math.ceil(size / 1_048_576);
  throw new Error(`${path} has ${megabytes} MB, and 64 MB is the most. Take a part by a command.`);
}
