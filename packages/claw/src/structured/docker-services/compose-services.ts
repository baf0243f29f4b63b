import { stringify } from 'yaml';
import type { Conflict } from '../../conflict.ts';
import { dataAt, isPlainMap } from '../canonical-value.ts';
import { CORE, type StructuredInput, type StructuredResult } from '../declaration.ts';
import { disagreement } from '../disagreement.ts';
import type { KeyClash } from '../json/json-merge.ts';
import { eolOf, joinLines } from '../json/keyed-lines.ts';
import { EMPTY_MAP, mergeKeyed } from '../json/keyed-merge.ts';
import { unreadableRelease } from '../npm/npm.ts';
import { setAt } from '../value-edit.ts';
import { agreeOnServices, type DecidedKey } from './agree-on-services.ts';
import { hostPortsOf, namedVolumes, showPorts } from './host-ports.ts';
import { YAML_STYLE } from './yaml-edit.ts';
import { readYaml, type YamlText } from './yaml-text.ts';

type ComposedText = { readonly bytes: Buffer; readonly conflicts: readonly Conflict[] };

/**
 * Returns the compose file with the services that layers declare, and the named volumes that these mount; a
 * new one where the release has none. What the release says stays as it is, comments included.
 */
export function composeServices(input: StructuredInput): StructuredResult {
  const file = readYaml(input.release ?? Buffer.alloc(0));
  if (!('map' in file)) return unreadableRelease(input, file);
  const { added, changes, declared, conflicts } = agreeOnServices(file.data, input);
  const ports = Object.entries(declared).map(
    ([name, service]) => [name, hostPortsOf(service).map(showPorts)] as const,
  );
  const outcome = { services: Object.fromEntries(ports) };
  const changed = writeDecisions(input, changes);
  const touched = new Set(changes.map(({ keys }) => keys[1] ?? ''));
  const changedServices = Object.entries(declared).filter(([name]) => touched.has(name));
  const content = missing(file.data, added, Object.fromEntries(changedServices));
  if (content === null && changes.length === 0) return { bytes: input.release, conflicts, outcome };
  const written = content === null ? changed : addContent(input, changed.bytes, content);
  const result = readYaml(written.bytes);
  if (!('map' in result)) return unreadableRelease(input, result);
  const all = [...conflicts, ...changed.conflicts, ...(content === null ? [] : written.conflicts)];
  return { bytes: written.bytes, conflicts: all, outcome };
}

function writeDecisions(
  { release }: StructuredInput,
  changes: readonly DecidedKey[],
): ComposedText {
  const conflicts: Conflict[] = [];
  let bytes = release ?? Buffer.alloc(0);
  for (const { keys, value, conflict } of changes) {
    const set = setAt({ kind: 'compose', bytes }, keys, value);
    if (set === null) conflicts.push(conflict);
    else bytes = set;
  }
  return { bytes, conflicts };
}

/** Returns the content that a file needs for services to run, or null. */
function missing(
  data: unknown,
  services: Readonly<Record<string, unknown>>,
  changed: Readonly<Record<string, unknown>>,
): unknown {
  const present = dataAt(data, ['volumes']);
  const isThere = (name: string) => isPlainMap(present) && Object.hasOwn(present, name);
  const volumes = namedVolumes({ ...changed, ...services }).filter((name) => !isThere(name));
  const content = {
    ...(Object.keys(services).length === 0 ? {} : { services }),
    ...(volumes.length === 0 ? {} : { volumes: Object.fromEntries(volumes.map(nothingFor)) }),
  };
  return Object.keys(content).length === 0 ? null : content;
}

function nothingFor(name: string): readonly [string, null] {
  return [name, null];
}

function addContent(input: StructuredInput, bytes: Buffer, content: unknown): ComposedText {
  const { path, release } = input;
  const file = readYaml(bytes);
  if (!('map' in file)) return { bytes, conflicts: [] };
  const inserted = insert(file, content);
  const conflicts: Conflict[] = [];
  let written = inserted.bytes;
  for (const { keys } of inserted.clashes) {
    const present = dataAt(file.data, keys) ?? null;
    const added = dataAt(content, keys);
    const conflict = disagreement(
      `${path}#${keys.join('.')}`,
      [CORE, input.declarations[0]?.layer ?? CORE],
      {
        reason: `Nothing can be added to ${keys.join('.')} of ${path}: write it one key to a line.`,
        sides: { base: release, ours: release, theirs: release },
        values: {
          base: present,
          ours: present,
          theirs: isPlainMap(present) && isPlainMap(added) ? { ...present, ...added } : added,
        },
      },
    );
    const decided = input.decide?.(conflict) ?? null;
    const set = decided && setAt({ kind: 'compose', bytes: written }, keys, decided.value ?? null);
    if (set === null) conflicts.push(conflict);
    else written = set;
  }
  return { bytes: conflicts.length > 0 ? bytes : written, conflicts };
}

// Adding is merging: the new keys come from a text of their own that has nothing in common with the file.
function insert(
  file: YamlText,
  content: unknown,
): { readonly bytes: Buffer; readonly clashes: readonly KeyClash[] } {
  const theirs = readYaml(Buffer.from(stringify(content, { ...YAML_STYLE, nullStr: '' })));
  if (!('map' in theirs)) throw new TypeError('a declared service must be plain data');
  const eol = eolOf(file.text);
  const maps = { base: EMPTY_MAP, ours: file.map, theirs: theirs.map };
  const { lines, clashes } = mergeKeyed(maps, eol);
  return { bytes: Buffer.from(joinLines(lines, eol)), clashes };
}
