/** The owner's options of an update, beside the release. */
export type UpdateOptions = {
  /** The installed release, where `init` never named one. */
  readonly release: string | null;
  /** Every layer goes that the release contains, also where it would still change the tree. */
  readonly retireContained: boolean;
  /** Layers that go for that reason, by name, as the owner answered. */
  readonly retire: readonly string[];
  /** Layers that stay, whatever the release contains. */
  readonly keep: readonly string[];
  /** Moves that the release did not declare: `old=new`, files or folders. */
  readonly moved: readonly string[];
};

export const PLAIN_UPDATE: UpdateOptions = {
  release: null,
  retireContained: false,
  retire: [],
  keep: [],
  moved: [],
};

/** Returns the options as a waiting operation stores them. */
export function keptOptions(options: UpdateOptions): Readonly<Record<string, string | null>> {
  const { release, retireContained, retire, keep, moved } = options;
  return {
    release,
    ...(retireContained ? { retireContained: 'yes' } : {}),
    ...(retire.length === 0 ? {} : { retire: JSON.stringify(retire) }),
    ...(keep.length === 0 ? {} : { keep: JSON.stringify(keep) }),
    ...(moved.length === 0 ? {} : { moved: JSON.stringify(moved) }),
  };
}

/** Reads the options that `keptOptions` wrote. */
export function updateOptionsOf(kept: Readonly<Record<string, string | null>>): UpdateOptions {
  return {
    release: kept['release'] ?? null,
    retireContained: kept['retireContained'] === 'yes',
    retire: listOf(kept['retire']),
    keep: listOf(kept['keep']),
    moved: listOf(kept['moved']),
  };
}

/** Parses a kept list; a file that was changed into something else gives an empty one. */
function listOf(text: string | null | undefined): readonly string[] {
  if (text == null) return [];
  const list: unknown = JSON.parse(text);
  return Array.isArray(list) ? list.map(String) : [];
}
