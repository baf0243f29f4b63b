import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { lstat } from '../../package/regular-file.ts';

/** Folders in which nothing is an edit, wherever they are. */
const FOREIGN = new Set(['.git', '.claw', 'node_modules']);

/** Changes of files below some folders, gathered until they are asked for. */
export type Watch = {
  /** Resolves with the changed paths, relative to the root, once nothing more has come for a moment. */
  readonly next: (signal: AbortSignal) => Promise<readonly string[]>;
  /** Calls a listener at each change. @returns what ends that */
  readonly onChange: (listener: () => void) => () => void;
  readonly close: () => void;
};

/** Editors write a file in several steps: one save is everything that comes within this time. */
const QUIET_MS = 40;

/**
 * Watches the folders of files, and folders that are made in them later. The system reports changes, one request per
 * folder, so `node_modules` and ignored files cost nothing.
 *
 * @param paths files of the project, relative to the root
 */
export function watchFolders(root: string, paths: readonly string[]): Watch {
  const watchers = new Map<string, FSWatcher>();
  const changed = new Set<string>();
  const listeners = new Set<() => void>();
  const note = (path: string) => {
    changed.add(path);
    for (const listener of [...listeners]) listener();
  };
  const add = (folder: string): void => {
    if (watchers.has(folder) || lstat(join(root, folder))?.isDirectory() !== true) return;
    try {
      const watcher = watch(join(root, folder), (_, name) => {
        if (name === null || FOREIGN.has(name)) return;
        const path = join(folder, name);
        if (lstat(join(root, path))?.isDirectory()) addAll(path);
        note(path);
      });
      // The folder went: its parent tells of that.
      watcher.on('error', () => drop(folder));
      watchers.set(folder, watcher);
    } catch {
      // It went between the look and the request, as a folder in a checkout may.
    }
  };
  const drop = (folder: string): void => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  /** Watches a new folder, and counts its files as well: they may be older than the watch. */
  const addAll = (folder: string): void => {
    drop(folder);
    add(folder);
    for (const entry of readEntries(join(root, folder))) {
      if (FOREIGN.has(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) addAll(path);
      else note(path);
    }
  };
  for (const folder of foldersOf(paths)) add(folder);
  return {
    next: async (signal) => {
      await new Promise<void>((resolve) => {
        let timer: NodeJS.Timeout | null = null;
        const finish = () => {
          listeners.delete(wait);
          signal.removeEventListener('abort', finish);
          if (timer) clearTimeout(timer);
          resolve();
        };
        const wait = () => {
          if (timer) clearTimeout(timer);
          timer = setTimeout(finish, QUIET_MS);
        };
        listeners.add(wait);
        signal.addEventListener('abort', finish, { once: true });
        if (signal.aborted) finish();
        else if (changed.size > 0) wait();
      });
      const paths = [...changed].sort();
      changed.clear();
      return paths;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => {
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
      listeners.clear();
    },
  };
}

function foldersOf(paths: readonly string[]): readonly string[] {
  const folders = new Set(['']);
  for (const path of paths) {
    for (let at = dirname(path); at !== '.'; at = dirname(at)) folders.add(at);
  }
  return [...folders].sort();
}

function readEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // Gone again: its parent tells of that.
  }
}
