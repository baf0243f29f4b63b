import { stringify } from 'yaml';
import type { StructuredInput, StructuredResult } from './declaration.ts';
import { eolOf, joinLines } from './keyedLines.ts';
import { EMPTY_MAP, mergeKeyed } from './keyedMerge.ts';
import { unreadableRelease } from './npm.ts';
import { hostPortsOf, showPorts } from './ports.ts';
import { agreeOnServices, namedVolumes } from './services.ts';
import { readYaml, type YamlText } from './yamlText.ts';

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
  const bytes = insert(file, added);
  const written = readYaml(bytes);
  if (!('map' in written)) return unreadableRelease(input, written);
  return { bytes, conflicts, outcome };
}

// Adding is merging: the new keys come from a text of their own that has nothing in common with the file.
function insert(file: YamlText, services: Readonly<Record<string, unknown>>): Buffer {
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
  return Buffer.from(joinLines(mergeKeyed(maps, eol).lines, eol));
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
