import type { ServerParts } from './server-parts.ts';

/** Parts of a resource beside its address. */
type Content = { readonly mimeType: string; readonly text: string };

const MARKDOWN = 'text/markdown';
const JSON_TYPE = 'application/json';

/** Addresses of what each chat has. */
export const TEMPLATES = [
  {
    uriTemplate: 'patchclaw://memory/{chat}',
    name: 'memory',
    description: 'What a chat has asked to be remembered',
    mimeType: MARKDOWN,
  },
  {
    uriTemplate: 'patchclaw://history/{chat}',
    name: 'history',
    description: 'The last messages of a chat',
    mimeType: 'text/plain',
  },
] as const;

/** Lists the resources that are there now: chats, tasks, and memory and history of each chat. */
export function listResources({ store }: Pick<ServerParts, 'store'>) {
  const chats = new Map(store.groups.all().map(({ folder, name }) => [folder, name]));
  return [
    {
      uri: 'patchclaw://groups',
      name: 'groups',
      description: 'The registered chats',
      mimeType: JSON_TYPE,
    },
    {
      uri: 'patchclaw://tasks',
      name: 'tasks',
      description: 'The scheduled tasks of all chats',
      mimeType: JSON_TYPE,
    },
    ...[...chats].flatMap(([folder, name]) =>
      TEMPLATES.map(({ uriTemplate, name: kind, description, mimeType }) => ({
        uri: uriTemplate.replace('{chat}', folder),
        name: `${kind}-${folder}`,
        description: `${description}: ${name}`,
        mimeType,
      })),
    ),
  ];
}

/** Reads a resource; null where there is none at that address. */
export async function readResource(
  parts: ServerParts,
  uri: string,
  signal: AbortSignal,
): Promise<Content | null> {
  const { store, tools, readGroupFile } = parts;
  if (uri === 'patchclaw://groups') {
    const groups = store.groups
      .all()
      .map(({ folder, name, isMain, needsTrigger }) => ({ folder, name, isMain, needsTrigger }));
    return { mimeType: JSON_TYPE, text: JSON.stringify(groups) };
  }
  if (uri === 'patchclaw://tasks') {
    const { value } = await tools.call({ folder: 'main', name: 'list_tasks', input: {} }, signal);
    return { mimeType: JSON_TYPE, text: JSON.stringify(value) };
  }
  const [, kind, folder = ''] = /^patchclaw:\/\/(memory|history)\/([a-z0-9-]+)$/.exec(uri) ?? [];
  if (kind === undefined || store.groups.byFolder(folder) === null) return null;
  if (kind === 'memory') {
    return { mimeType: MARKDOWN, text: (await readGroupFile(folder, ['CLAUDE.md'])) ?? '' };
  }
  const { value } = await tools.call(
    { folder, name: 'search_history', input: { limit: 50 } },
    signal,
  );
  return { mimeType: 'text/plain', text: String(value) };
}
