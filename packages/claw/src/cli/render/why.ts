import type { DataOf } from '../../commands.ts';
import { type Colour, cut, painted, type Screen, shown } from '../screen.ts';

type WhyData = DataOf<'why'>;
type Owner = Omit<WhyData['ranges'][number], 'from' | 'to' | 'text'>;

const COLOURS: Readonly<Record<Owner['kind'], Colour>> = {
  core: 'dim',
  skill: 'cyan',
  customisation: 'magenta',
  resolution: 'yellow',
  edit: 'green',
};

const LABEL_WIDTH = 24;

/**
 * Returns the lines with their owners beside them, each named where its part begins, and below who they are.
 */
export function whyLines(data: WhyData, screen: Screen): readonly string[] {
  const { path, ranges, binary, gone } = data;
  if (gone !== null) {
    const way = gone.movedTo === null ? 'deleted by' : `moved to ${gone.movedTo} by`;
    return [`${path} is not there: ${way} ${labelOf(gone)}.`, ...legend([gone])];
  }
  const [first] = ranges;
  if (first === undefined) return [`${path} is empty.`];
  if (binary) return [`${path} is binary: ${labelOf(first)}.`, ...legend(ranges)];
  const width = Math.min(LABEL_WIDTH, Math.max(...ranges.map((range) => labelOf(range).length)));
  const digits = String(ranges.at(-1)?.to ?? 0).length;
  const room = screen.columns === null ? Infinity : screen.columns - width - digits - 4;
  const lines = ranges.flatMap((range) =>
    textLines(range.text).map((text, at) => {
      const label = at === 0 ? cut(labelOf(range), width) : '';
      const head = painted(label.padEnd(width), COLOURS[range.kind], screen);
      const number = painted(String(range.from + at).padStart(digits), 'dim', screen);
      const words = shown(screen.columns === null ? text : text.replaceAll('\t', '  '), screen);
      return `${head}  ${number}  ${cut(words, Math.max(room, 8))}`.trimEnd();
    }),
  );
  const notes = legend(ranges);
  return notes.length === 0 ? lines : [...lines, '', ...notes];
}

function textLines(text: string): readonly string[] {
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

function labelOf({ owner, kind, version, key = '' }: Owner): string {
  if (kind === 'resolution') return `resolution ${key.slice(0, 8)}`;
  // The version of a customisation only counts how often it was recorded.
  return kind === 'customisation' || !version ? owner : `${owner} ${version}`;
}

/** Returns one line for each that a name alone does not explain. */
function legend(owners: readonly Owner[]): readonly string[] {
  const notes = owners.flatMap((owner) => {
    const { kind, description, key, layers, origin } = owner;
    if (kind === 'resolution') {
      const known: Readonly<Record<string, string>> = { owner: 'you', release: 'the release' };
      const by = origin == null ? 'an unknown author' : (known[origin] ?? origin);
      return [`resolution ${key}: ${layers?.join(' against ')}, resolved by ${by}`];
    }
    return description ? [`${labelOf(owner)}: ${description}`] : [];
  });
  return [...new Set(notes)];
}
