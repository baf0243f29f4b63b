import { dataAt, isPlainMap } from '../values.ts';

/** Returns the named volumes that services mount, sorted. */
export function namedVolumes(services: Readonly<Record<string, unknown>>): readonly string[] {
  const sources = Object.values(services).flatMap((service) => {
    const volumes = dataAt(service, ['volumes']);
    return Array.isArray(volumes) ? volumes.map(volumeSource) : [];
  });
  const isName = (source: unknown) => typeof source === 'string' && /^[A-Za-z0-9]/.test(source);
  return [...new Set(sources.filter((source) => isName(source)).map(String))].sort();
}

function volumeSource(volume: unknown): unknown {
  if (typeof volume === 'string') return volume.includes(':') ? volume.split(':')[0] : null;
  return isPlainMap(volume) && volume['type'] === 'volume' ? volume['source'] : null;
}
