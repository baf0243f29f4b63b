import { z } from 'zod';
import type { Meta } from '../meta.ts';

const Switches = z.array(z.string().min(1));

/** The tools that the owner has switched off, for the chats of a folder: names, or the beginning of some and `*`. */
export interface ToolSwitches {
  offIn(folder: string): readonly string[];
  set(folder: string, off: readonly string[]): void;
}

/** The key of a folder's switches in the table of small facts. */
export const switchesKey = (folder: string): string => `tools.off.${folder}`;

export function openToolSwitches(meta: Pick<Meta, 'get' | 'set' | 'remove'>): ToolSwitches {
  return {
    offIn(folder) {
      const kept = meta.get(switchesKey(folder));
      return kept === null ? [] : Switches.parse(JSON.parse(kept));
    },
    set(folder, off) {
      if (off.length === 0) meta.remove(switchesKey(folder));
      else meta.set(switchesKey(folder), JSON.stringify([...new Set(off)].sort()));
    },
  };
}

/** Tells whether a tool is among those that are switched off; `web_*` are all whose names begin with `web_`. */
export function isSwitchedOff(off: readonly string[], tool: string): boolean {
  return off.some((one) => (one.endsWith('*') ? tool.startsWith(one.slice(0, -1)) : one === tool));
}
