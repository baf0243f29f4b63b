import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import type { ServiceContext } from '../../host/contracts/service.ts';
import { type Concept, parseConcept } from '../../prompt/roles/concept.ts';
import { ConceptGraph } from '../../prompt/roles/concept-graph.ts';

const FILE = /^([\p{L}\p{N}][\p{L}\p{M}\p{N} ._-]{0,99})\.md$/u;
const MOST_FILES = 2_000;
/** A concept is a page at most; what is longer is read to here. */
const MAX_CHARS = 32_768;
const AT_ONCE = 16;

type KeptFile = { readonly mark: string; readonly concept: Concept };
type Kept = { readonly files: ReadonlyMap<string, KeptFile>; readonly graph: ConceptGraph };

/** Reads the concepts of the role in use, and again those whose files have changed. */
export class ConceptFolder {
  readonly #context: Pick<ServiceContext, 'groupsDir' | 'readGroupFile'>;
  #kept: { readonly role: string; readonly read: Kept } | null = null;

  constructor(context: Pick<ServiceContext, 'groupsDir' | 'readGroupFile'>) {
    this.#context = context;
  }

  /** Returns the graph of a role as its folder is now; without concepts where there is no such folder. */
  async graphOf(role: string): Promise<ConceptGraph> {
    const before = this.#kept?.role === role ? this.#kept.read : null;
    const read = await readFolder(this.#context, role, before);
    this.#kept = { role, read };
    return read.graph;
  }
}

async function readFolder(
  { groupsDir, readGroupFile }: Pick<ServiceContext, 'groupsDir' | 'readGroupFile'>,
  role: string,
  before: Kept | null,
): Promise<Kept> {
  const path = ['roles', role];
  const folder = join(groupsDir, 'global', ...path);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries
    .flatMap((entry) => (entry.isFile() && FILE.test(entry.name) ? [entry.name] : []))
    .sort()
    .slice(0, MOST_FILES);
  const limit = pLimit(AT_ONCE);
  const read = await Promise.all(
    names.map((name) =>
      limit(async (): Promise<readonly [string, KeptFile][]> => {
        const stats = await lstat(join(folder, name)).catch(() => null);
        const mark = stats === null ? '' : `${stats.mtimeMs} ${stats.size}`;
        const known = before?.files.get(name);
        if (known !== undefined && known.mark === mark) return [[name, known]];
        // Follows no link, wherever in the path an agent of an older version may have put one.
        const text = await readGroupFile('global', [...path, name]);
        if (text === null) return [];
        const concept = parseConcept(name.slice(0, -'.md'.length), text.slice(0, MAX_CHARS));
        return [[name, { mark, concept }]];
      }),
    ),
  );
  const files = new Map(read.flat());
  const isSame =
    before !== null &&
    before.files.size === files.size &&
    [...files].every(([name, { concept }]) => before.files.get(name)?.concept === concept);
  if (isSame) return { files, graph: before.graph };
  return { files, graph: new ConceptGraph([...files.values()].map(({ concept }) => concept)) };
}
