import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Device } from './device.ts';
import { type DeviceFile, digestOf, digestOn, pushSet } from './files.ts';

/** Reads the programs of the folder `device/`: the workspace on a board is its own. */
export function ownCode(folder: string): readonly DeviceFile[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.py'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !relative(folder, path).startsWith(`workspace${sep}`))
    .sort()
    .map((path) => ({
      path: `/${relative(folder, path).split(sep).join('/')}`,
      bytes: readFileSync(path),
    }));
}

/** Brings the programs of a device to those of this tree, and starts it anew. Returns a line for the owner. */
export async function updateDevice(
  device: Device,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const changed: DeviceFile[] = [];
  for (const file of ownCode(folder)) {
    const there = await digestOn(device, file.path, signal);
    if (there !== digestOf(file.bytes)) changed.push(file);
  }
  if (changed.length === 0) return `${device.name} has the programs of this tree already.`;
  await pushSet(device, changed, signal);
  await device.call('_reset', {}, signal);
  return `${device.name} has ${changed.length} new files, and starts anew: ${changed.map(({ path }) => path).join(', ')}.`;
}
