import { stringify } from 'yaml';
import { CORE, type StructuredInput, type StructuredResult } from './declaration.ts';
import { disagreement } from './disagreement.ts';
import type { KeyClash } from './json-merge.ts';
import { eolOf, joinLines } from './keyed-lines.ts';
import { EMPTY_MAP, mergeKeyed } from './keyed-merge.ts';
import { unreadableRelease } from './npm.ts';
import { hostPortsOf, showPorts } from './ports.ts';
import { agreeOnServices, namedVolumes } from './services.ts';
import { readYaml, type YamlText } from './yaml-text.ts';

/**
 * The compose file with the services that layers declare, and the named volumes that these mount; a
 * new one where the release has none. What the release says stays as it is, comments included.
 */
export function composeServices(input: StructuredInput): StructuredResult {
  const file = readYaml(input.release ?? Buffer.alloc(0));
  if (!('map' in file)) return unreadableRelease(input, file);
  const { added, conflicts } = agreeOnServices(file.data, input);
  const outcome = { services: outcomeOf(input) };
  if (Object.keys(added).length === 0) return { bytes: input.release, conflicts, outcome };
  const { bytes, clashes } = insert(file, added);
  const written = readYaml(bytes);
  const [clash] = clashes;
  if (!('map' in written)) return unreadableRelease(input, written);
  if (clash === undefined) return { bytes, conflicts, outcome };
  const { release, path } = input;
  return {
    bytes: release,
    conflicts: [
      ...conflicts,
      disagreement(
        `${path}#${clash.keys.join('.')}`,
        [CORE, input.declarations[0]?.layer ?? CORE],
        {
          reason: `Nothing can be added to ${clash.keys.join('.')} of ${path}: write it one key to a line.`,
          sides: { base: release, ours: release, theirs: release },
        },
      ),
    ],
    outcome,
  };
}

// Adding is merging: the new keys come from a text of their own that has nothing in common with the file.
function insert(
  file: YamlText,
  services: Readonly<Record<string, unknown>>,
): { readonly bytes: Buffer; readonly clashes: readonly KeyClash[] } {
  const volumes = namedVolumes(services);
  const content = {
    services,
    ...(volumes.length === 0
      ? {}
      : { volumes: Object.fromEntries(volumes.map((name) => [name, null])) }),
  };
  // Docker reads YAML 1.1, where `yes` without quotes is no text.
  const text = stringify(content, { lineWidth: 0, nullStr: '', compat: 'yaml-1.1' });
  const theirs = readYaml(Buffer.from(text));
  if (!('map' in theirs)) throw new TypeError('a declared service must be plain data');
  const eol = eolOf(file.text);
  const maps = { base: EMPTY_MAP, ours: file.map, theirs: theirs.map };
  const { lines, clashes } = mergeKeyed(maps, eol);
  return { bytes: Buffer.from(joinLines(lines, eol)), clashes };
}

function outcomeOf({ declarations }: StructuredInput): Record<string, unknown> {
  const services = declarations.flatMap(({ structured }) =>
    Object.entries(structured.composeServices),
  );
  const sorted = services.sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([name, service]) => [name, hostPortsOf(service).map(showPorts)]),
  );
}
