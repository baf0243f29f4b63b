import type { ServerParts } from './server-parts.ts';

const LOOK_MS = 5_000;
const MOST = 64;

/** Resources that one client wants to be told of when they change. */
export interface Subscriptions {
  /** A resource may come later, as a chat that is registered. @throws Error at more than it may have */
  add(uri: string): Promise<void>;
  remove(uri: string): void;
  close(): void;
}

/** Opens subscriptions; while there are none, nothing is looked at. */
export function openSubscriptions(
  parts: Pick<ServerParts, 'store' | 'readGroupFile' | 'setTimer'>,
  onChange: (uri: string) => void,
): Subscriptions {
  const marks = new Map<string, string | null>();
  let cancel: (() => void) | null = null;

  async function look(): Promise<void> {
    for (const [uri, before] of [...marks]) {
      const mark = await markOf(parts, uri);
      if (!marks.has(uri) || mark === before) continue;
      marks.set(uri, mark);
      onChange(uri);
    }
    schedule();
  }

  function schedule(): void {
    cancel = marks.size === 0 ? null : parts.setTimer(LOOK_MS, look);
  }

  return {
    async add(uri) {
      if (!marks.has(uri) && marks.size >= MOST)
        throw new Error(`At most ${MOST} resources can be watched.`);
      marks.set(uri, await markOf(parts, uri));
      if (cancel === null) schedule();
    },
    remove: (uri) => void marks.delete(uri),
    close() {
      marks.clear();
      cancel?.();
    },
  };
}

/** Returns what is another text after each change of a resource; null where there is none at that address. */
async function markOf(
  { store, readGroupFile }: Pick<ServerParts, 'store' | 'readGroupFile'>,
  uri: string,
): Promise<string | null> {
  const groups = store.groups.all();
  if (uri === 'patchclaw://groups') return JSON.stringify(groups);
  if (uri === 'patchclaw://tasks') return JSON.stringify(store.tasks.open());
  const [, kind, folder = ''] = /^patchclaw:\/\/(memory|history)\/([a-z0-9-]+)$/.exec(uri) ?? [];
  const chats = groups.filter((group) => group.folder === folder);
  if (kind === undefined || chats.length === 0) return null;
  if (kind === 'memory') return (await readGroupFile(folder, ['CLAUDE.md'])) ?? '';
  const seq = Number.MAX_SAFE_INTEGER;
  const counts = chats.flatMap(({ jid }) =>
    (['message', 'answer'] as const).map((said) => store.said.extent({ jid, kind: said, seq })),
  );
  return JSON.stringify(counts);
}
