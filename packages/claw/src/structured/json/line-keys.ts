import type { Node } from 'jsonc-parser';
import type { Declaration } from '../declaration.ts';
import { namedVolumes } from '../docker-services/host-ports.ts';
import { readYaml } from '../docker-services/yaml-text.ts';
import { envMap } from '../env.ts';
import type { StructuredKind } from '../structured-kind.ts';
import { type JsonText, membersOf, readJson } from './json-text.ts';
import { type KeyedMap, splitLines } from './keyed-lines.ts';

/** A place in a structured file: the keys that lead there, the empty path for the file itself. */
export type KeyPath = readonly string[];

/**
 * Returns the key that each line of a structured file belongs to: comments to the key below them, the end of a
 * map to the map. Null for every other file, and for one that cannot be read.
 */
export function lineKeys(kind: StructuredKind | null, bytes: Buffer): readonly KeyPath[] | null {
  if (kind === 'npm' || kind === 'container') {
    const file = readJson(bytes);
    return 'root' in file ? jsonKeys(file) : null;
  }
  if (kind === 'compose') {
    const file = readYaml(bytes);
    return 'map' in file ? mapKeys(file.map, []) : null;
  }
  return kind === 'env' ? mapKeys(envMap(bytes.toString('utf8')), []) : null;
}

/** Returns the layers that declare a key of a structured file, in the order given. */
export function declarersOf(
  kind: StructuredKind | null,
  keys: KeyPath,
  declarations: readonly Declaration[],
): readonly string[] {
  const [section = '', name = ''] = keys;
  const isDeclared = ({ structured }: Declaration): boolean => {
    const { npmDependencies, envAdditions, composeServices, container } = structured;
    switch (kind) {
      case 'npm':
        return /dependencies$/i.test(section) && Object.hasOwn(npmDependencies, name);
      case 'env':
        return envAdditions.some((setting) => setting.name === section);
      case 'compose':
        return section === 'volumes'
          ? namedVolumes(composeServices).includes(name)
          : section === 'services' && Object.hasOwn(composeServices, name);
      case 'container':
        return section === 'apt'
          ? container.aptPackages.includes(name)
          : section === 'npm' && Object.hasOwn(container.npmDependencies, name);
      default:
        return false;
    }
  };
  return declarations.filter(isDeclared).map(({ layer }) => layer);
}

function mapKeys(map: KeyedMap, above: KeyPath): readonly KeyPath[] {
  const keys = map.chunks.flatMap((chunk): readonly KeyPath[] => {
    const path = [...above, chunk.key];
    const own = [...chunk.lead, ...chunk.head].map(() => path);
    return chunk.map === null ? own : [...own, ...mapKeys(chunk.map, path)];
  });
  return [...keys, ...map.tail.map(() => above)];
}

function jsonKeys({ text, root }: JsonText): readonly KeyPath[] {
  const keys = new Map<number, KeyPath>();
  const lineAt = lineCounter(text);
  // The first thing on a line names it.
  const mark = (offset: number, path: KeyPath): void => {
    const line = lineAt(offset);
    if (!keys.has(line)) keys.set(line, path);
  };
  const walk = (node: Node, path: KeyPath): void => {
    mark(node.offset, path);
    for (const [name, value] of membersOf(node)) {
      mark(value.parent?.offset ?? value.offset, [...path, name]);
      walk(value, [...path, name]);
    }
    if (node.type === 'array') {
      for (const item of node.children ?? []) walk(item, [...path, String(item.value ?? '')]);
    }
    mark(node.offset + node.length - 1, path);
  };
  walk(root, []);
  let last: KeyPath = [];
  return splitLines(text).map((_, line) => {
    last = keys.get(line) ?? last;
    return last;
  });
}

function lineCounter(text: string): (offset: number) => number {
  const starts: number[] = [];
  for (let at = 0; at < text.length; at = text.indexOf('\n', at) + 1 || text.length) {
    starts.push(at);
  }
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
}
